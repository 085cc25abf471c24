//go:build e2e

package main_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mistaken is a lock client in a few lines of shell that makes one mistake: in what it declares, or in how it answers its
// first acquire ($op is its number, $n that of the last ping).
func mistaken(t *testing.T, declares, answers string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "mistaken.sh")
	text := `#!/bin/sh
field() { rest=${line#*"\"$1\":"}; rest=${rest%%,*}; echo "${rest%%\}*}"; }
while read -r line; do
	case $line in
	*'"cmd":"init"'*) echo '{"msg":"ready","ready":{"protocol":1,"client":"mistaken 1.0",` + declares + `}}' ;;
	*'"cmd":"ping"'*) n=$(field n); echo "{\"msg\":\"pong\",\"n\":$n}" ;;
	*'"cmd":"acquire"'*) op=$(field op); cat <<-END
		` + answers + `
		END
		;;
	*'"cmd":"close"'*) exit 0 ;;
	esac
done
`
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}

const (
	declaresAll = `"tokens":"ordered","commands":["ping","acquire","read","write","release","cancel","close"]`
	answersWell = `{"msg":"fail","op":$op,"code":"refused"}`
)

// What a client cannot have meant is neither a verdict nor a bug of lockcheck's: the run ends with the author's exit code,
// and with the line.
func TestAClientsMistakeIsNoVerdict(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		declares, answers string
		says              []string
	}{
		"no cancel":            {strings.Replace(declaresAll, `"cancel",`, "", 1), answersWell, []string{`does not name cancel among its "commands"`, `{"msg":"ready"`}},
		"a second answer":      {declaresAll, answersWell + "\n\t\t" + answersWell, []string{`"code":"refused"}`, "is not open"}},
		"an answer to nothing": {declaresAll, `{"msg":"ok","op":123456789,"token":"1"}`, []string{`{"msg":"ok","op":123456789,"token":"1"}`, "operation 123456789 is not open"}},
		"an unknown code":      {declaresAll, `{"msg":"fail","op":$op,"code":"expired"}`, []string{`"code":"expired"}`, `there is no code "expired"`}},
		"a ping of the future": {declaresAll, `{"msg":"fail","op":$op,"code":"refused","seen":987654321}`, []string{"seen is 987654321, a ping that was never sent"}},
		"a padded token":       {declaresAll, `{"msg":"ok","op":$op,"session":"s$$","token":"0033"}`, []string{`"token":"0033"}`, `it has to be written as "33"`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := lockcheck(t, program, "run", "--backend=etcd", oneServer, "--provider=local", "--nemesis=none", "--time-limit=5s", "--client="+mistaken(t, c.declares, c.answers))
			if o.code != 64 || len(o.results.Properties) > 0 {
				t.Errorf("exit %d, judged %v; want 64 and no verdict", o.code, o.results.Verdict)
			}
			for _, say := range append(c.says, "mistaken.sh does not speak the client protocol (clusters/client/README.md)") {
				if !strings.Contains(o.stderr, say) {
					t.Errorf("it does not say %s", say)
				}
			}
		})
	}
	t.Run("none", func(t *testing.T) { // the nearest that is right: it is judged, and shows nothing
		t.Parallel()
		o := lockcheck(t, program, "run", "--backend=etcd", oneServer, "--provider=local", "--nemesis=none", "--time-limit=2s", "--client="+mistaken(t, declaresAll, answersWell))
		if !slices.Contains([]int{1, 2}, o.code) || len(o.results.Properties) == 0 {
			t.Errorf("exit %d, judged %v; want a verdict that is no pass", o.code, o.results.Verdict)
		}
	})
	t.Run("of a client of lockcheck's own", func(t *testing.T) {
		t.Parallel()
		o := lockcheck(t, planted, "run", "--backend=etcd", oneServer, "--provider=local", "--nemesis=none", "--time-limit=5s", "--client=concurrency+padded-token")
		if o.code != 70 || !strings.Contains(o.stderr, "has leading zeros") || !strings.Contains(o.stderr, `{"msg":"ok"`) {
			t.Errorf("exit %d, want 70 and the line", o.code)
		}
	})
}

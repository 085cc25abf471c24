package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/reports/rundir"
)

func noEnvironment(string) string { return "" }

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWhatLetsAClientInIsRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "password", "from the file\n")
	for name, text := range map[string]string{
		"yaml": "username: me\npassword_file: password\nserver_name: etcd.example\n",
		"json": `{"username": "me", "password_file": "` + filepath.Join(dir, "password") + `", "server_name": "etcd.example"}`,
	} {
		access, err := readAccess(write(t, dir, name, text), func(string) string { return "from the environment" }, asIs)
		if err != nil || access.Username != "me" || access.Password.Reveal() != "from the file" || access.ServerName != "etcd.example" || !access.TLS {
			t.Errorf("%s: %+v, %v", name, access, err)
		}
	}
	access, err := readAccess("", func(name string) string {
		if name != clusters.EnvPassword {
			t.Errorf("it reads %s", name)
		}
		return "from the environment"
	}, asIs)
	if err != nil || access.Password.Reveal() != "from the environment" || access.TLS {
		t.Errorf("%+v, %v", access, err)
	}
}

// users is the fit of servers that know users with passwords.
func users(access client.Access) (client.Access, error) {
	return clusters.Credentials{Login: clusters.LoginBoth}.Fit("etcd", 1, access)
}

func TestMistakesInWhatLetsAClientInHaveTheirPlaces(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "no-pem", "nothing\n")
	write(t, dir, "empty", "\n")
	for text, want := range map[string]string{
		"pasword: x\n":                           `f.yaml:1:1: the file has no key "pasword"`,
		"username: a\nusername: b\n":             `f.yaml:2:1: the file has "username" twice`,
		"username: [a]\n":                        `f.yaml:1:11: username is a word, not a list`,
		"- a\n":                                  `f.yaml:1:1: the file is a mapping`,
		"ca: no-such\n":                          "f.yaml:1:5: ca: " + dir + "/no-such: no such file",
		"username: a\nca: no-pem\n":              "f.yaml:2:5: the file of CA certificates " + dir + "/no-pem has none in PEM",
		"cert: no-pem\n":                         "f.yaml:1:7: a cert needs its key",
		"key: no-pem\n":                          "f.yaml:1:6: a key needs its cert",
		"cert: no-pem\nkey: no-pem\n":            "f.yaml:1:7: the client's certificate",
		"username: me\n":                         "f.yaml:1:11: username me has no password",
		"username: me\npassword_file: empty\n":   "f.yaml:2:16: password_file: " + dir + "/empty is empty",
		"username: \"me\npassword_file: empty\n": "f.yaml:",
	} {
		_, err := readAccess(write(t, dir, "f.yaml", text), noEnvironment, users)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := readAccess(filepath.Join(dir, "none.yaml"), noEnvironment, asIs); err == nil || !strings.Contains(err.Error(), "--attach-config=") {
		t.Errorf("no file: %v", err)
	}
}

// Whatever is printed or written of what lets a client in, its password is not.
func TestAPasswordIsNotShown(t *testing.T) {
	access, err := readAccess("", func(string) string { return "geheim" }, asIs)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(access)
	for _, shown := range []string{string(text), fmt.Sprint(access), fmt.Sprintf("%+v %#v %s %v %q", access, access, access.Password, access.Password, access.Password)} {
		if strings.Contains(shown, "geheim") || err != nil {
			t.Errorf("it shows %s, %v", shown, err)
		}
	}
	o := Default()
	o.Backend, o.Attach = "redis", "127.0.0.1:6379"
	t.Setenv(clusters.EnvPassword, "geheim")
	config, err := Prepare(o)
	if err != nil || config.Attach.Access.Password.Reveal() != "geheim" {
		t.Fatalf("%v", err)
	}
	for name, what := range map[string]any{"plan": config.Plan, "options": o} {
		if text, err := json.Marshal(what); err != nil || strings.Contains(string(text), "geheim") {
			t.Errorf("%s shows it: %s, %v", name, text, err)
		}
	}
}

func TestWhereAServiceAnswers(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "is not host:port",
		"etcd":                 "is not host:port",
		":2379":                "is not host:port",
		"a:1,,b:2":             "is not host:port",
		"a:0":                  "is no port",
		"a:65536":              "is no port",
		"a:etcd":               "is no port",
		"a:1,b:1,a:1":          "twice",
		"0.0.0.0:2379":         "is where servers listen",
		"[::1]:2379":           "IPv4",
		"a:1" + repeated(20):   "at most 20",
		"a:1, b:2,192.0.2.7:3": "",
	} {
		places, err := splitEndpoints(text)
		if want == "" && (err != nil || len(places) != 3 || places[1] != "b:2") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, %v, want %s", text, places, err, want)
		}
	}
}

func repeated(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf(",b%d:1", i)
	}
	return text
}

func TestWhatHasNoMeaningBesideAttachIsRefused(t *testing.T) {
	for want, change := range map[string]func(*Options){
		"--attach-config goes with --attach":    func(o *Options) { o.Attach, o.AttachConfig = "", "x" },
		"--max-rate goes with --attach":         func(o *Options) { o.Attach, o.MaxRate = "", 5 },
		"--nodes is for servers that lockcheck": func(o *Options) { o.Nodes = 3 },
		"--server-bin is for servers":           func(o *Options) { o.Where.ServerPaths.Bin = "x" },
	} {
		o := Default()
		o.Backend, o.Attach = "etcd", "127.0.0.1:2379"
		change(&o)
		err := o.Check()
		if err == nil {
			_, err = Prepare(o)
		}
		if !errors.Is(err, clusters.ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// What a file says that a run may have left is not removed if no run can have made it.
func TestCleanRemovesOnlyWhatARunCanHaveMade(t *testing.T) {
	fine := rundir.Attached{Backend: "etcd", Keys: []string{"20260102-0123abcd/k1"}, Service: history.Attached{Prefix: "20260102-0123abcd/"}}
	if err := plausible(&fine); err != nil {
		t.Error(err)
	}
	if prefix := prefixOf(time.Now()); !prefixes.MatchString(prefix) || prefix == prefixOf(time.Now()) {
		t.Errorf("a run's prefix is %s", prefix)
	}
	for _, prefix := range []string{"", "/", "20260102-0123abcd", "../20260102-0123abcd/", "20260102-0123abcd//"} {
		wrong := fine
		wrong.Service.Prefix = prefix
		if plausible(&wrong) == nil {
			t.Errorf("prefix %q is taken for a run's", prefix)
		}
	}
	wrong := fine
	wrong.Keys = []string{"20260102-0123abcd/k1", "theirs"}
	if plausible(&wrong) == nil {
		t.Error("a key outside of the prefix is taken for a run's")
	}
}

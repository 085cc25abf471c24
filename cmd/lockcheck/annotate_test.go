package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockcheck/reports/compare/config"
)

const wrongFile = "backends: {etcd: {}}\nmatrix: {nemeses: [noen], workloads: [lock, lokc]}\n"

// Who sees annotations only learns why there is no comparison, and where the mistake stands.
func TestNoComparisonIsAnnotated(t *testing.T) {
	for name, test := range map[string]struct {
		file string
		args []string
		code int
		want []string // annotations, each from its beginning; nil for none
	}{
		"mistakes in the file": {wrongFile, []string{"compare"}, exitUsage, []string{
			"::error file=lockcheck.yaml,line=2,col=20,title=lockcheck::nemesis ", "::error file=lockcheck.yaml,line=2,col=45,title=lockcheck::there is no workload "}},
		"no YAML":              {"a: [", []string{"compare"}, exitUsage, []string{"::error file=lockcheck.yaml,line=1,col=1,title=lockcheck::this is no YAML"}},
		"a flag":               {"", []string{"compare", "--backend=etcd"}, exitUsage, []string{"::error title=lockcheck::unknown flag: --backend"}},
		"a missing server":     {"", []string{"compare", "--backends=redis", "--nemeses=none", "--workloads=lock", "--provider=local", "--server-bin=/no/server"}, exitUnavailable, []string{"::error title=lockcheck::the cell redis / none / lock: "}},
		"no shard":             {"", []string{"merge", "parts/*/compare-*"}, exitUnavailable, []string{"::error title=lockcheck::not available here: the pattern parts/*/compare-* matched nothing: no shard left a comparison; look at their jobs"}},
		"JSON is asked for":    {wrongFile, []string{"compare", "--json"}, exitUsage, nil},
		"no comparison at all": {"", []string{"plan", "--backend=floppy"}, exitUsage, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("GITHUB_ACTIONS", "true")
			t.Setenv("GITHUB_WORKSPACE", "")
			if test.file != "" {
				edit(t, test.file)
			}
			got := lockcheck(t, test.args...)
			var lines []string
			if got.stdout != "" {
				lines = strings.Split(strings.TrimSpace(got.stdout), "\n")
			}
			if got.code != test.code || got.stderr == "" || len(lines) != len(test.want) {
				t.Fatalf("exit %d, want %d, and %d annotations\n%s%s", got.code, test.code, len(test.want), got.stdout, got.stderr)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(lines[i], want) {
					t.Errorf("annotated %s\nwant %s", lines[i], want)
				}
			}
			t.Setenv("GITHUB_ACTIONS", "")
			if got := lockcheck(t, test.args...); got.stdout != "" {
				t.Errorf("annotated without being asked: %s", got.stdout)
			}
		})
	}
}

// A file in a folder is named from the root of the repository, where GitHub looks for it.
func TestAnnotatedFilesAreNamedFromTheRoot(t *testing.T) {
	root := t.TempDir()
	t.Setenv("GITHUB_WORKSPACE", root)
	t.Chdir(root)
	if err := os.Mkdir("ci", 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(root, "ci"))
	edit(t, wrongFile)
	if got := lockcheck(t, "compare", "--file="+config.Name, "--annotations"); strings.Count(got.stdout, "::error file=ci/lockcheck.yaml,") != 2 {
		t.Errorf("annotated %s", got.stdout)
	}
}

// A pattern that the shell did not expand is expanded here.
func TestMergeExpandsAPattern(t *testing.T) {
	whole := calmPart(t)
	if got := lockcheck(t, "merge", filepath.Dir(whole)+"/00[1]", "--out="+t.TempDir()); got.code != exitPass {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

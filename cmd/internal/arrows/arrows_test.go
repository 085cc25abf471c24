package arrows

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The folders form no circle: a reader who knows what stands to the right of a folder can read it without its neighbours.
func TestArrowsPointDown(t *testing.T) {
	wrong, err := Up("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// A planted arrow is found, whatever draws it, and both of its ends are named.
func TestAnArrowThatPointsUpIsNamed(t *testing.T) {
	for name, planted := range map[string]struct{ file, imports, want string }{
		"code":                          {"clusters/backend/etcd/etcd.go", "lockcheck/workloads/driver", "clusters/backend/etcd/etcd.go:3 imports workloads/driver/driver.go, which points up"},
		"a test":                        {"checker/lock_test.go", "lockcheck/clusters", "checker/lock_test.go:3 imports clusters/clusters.go, which points up"},
		"a neighbour":                   {"reports/page.go", "lockcheck/workloads", "reports/page.go:3 imports workloads/workloads.go, which points up"},
		"down":                          {"cmd/lockcheck/run.go", "lockcheck/checker", ""},
		"within one folder":             {"clusters/backend/etcd/etcd.go", "lockcheck/clusters", ""},
		"within reports":                {"reports/words/words.go", "lockcheck/reports/page", "reports/words/words.go:3 imports reports/page/page.go, which points up"},
		"down in reports":               {"reports/page/page.go", "lockcheck/reports/words", ""},
		"what clients do at the engine": {"workloads/jobs.go", "lockcheck/workloads/run", "workloads/jobs.go:3 imports workloads/run/run.go, which points up"},
		"the engine at what clients do": {"workloads/run/worker.go", "lockcheck/workloads", ""},
		"judging in the run directory":  {"reports/rundir/plan.go", "lockcheck/cmd/internal/harness", "reports/rundir/plan.go:3 imports cmd/internal/harness/harness.go, which points up"},
		"another module":                {"checker/check.go", "example.com/clusters", ""},

		"facts at a property":          {"checker/model/model.go", "lockcheck/checker/property", "checker/model/model.go:3 imports checker/property/property.go, which points up"},
		"facts at the front door":      {"checker/model/model.go", "lockcheck/checker", "checker/model/model.go:3 imports checker/checker.go, which points up"},
		"explaining at a property":     {"checker/explain/cause.go", "lockcheck/checker/property", "checker/explain/cause.go:3 imports checker/property/property.go, which points up"},
		"figures at a property":        {"checker/figures/stats.go", "lockcheck/checker/property", "checker/figures/stats.go:3 imports checker/property/property.go, which points up"},
		"a property at explaining":     {"checker/property/judge.go", "lockcheck/checker/explain", ""},
		"history, a leaf":              {"checker/history/plan.go", "lockcheck/checker/model", "checker/history/plan.go:3 imports checker/model/model.go, which points up"},
		"foreign histories at facts":   {"checker/foreign/jepsen/read.go", "lockcheck/checker/model", "checker/foreign/jepsen/read.go:3 imports checker/model/model.go, which points up"},
		"simulated locks from a room":  {"checker/property/judge.go", "lockcheck/checker/internal/simulated", "checker/property/judge.go:3 imports checker/internal/simulated/simulated.go, which points up"},
		"simulated locks from a test":  {"checker/property/judge_test.go", "lockcheck/checker/internal/simulated", ""},
		"a property, from the reports": {"reports/page/page.go", "lockcheck/checker/model", ""},

		"a backend at a provider":        {"clusters/backend/etcd/start.go", "lockcheck/clusters/provider/local", "clusters/backend/etcd/start.go:3 imports clusters/provider/local/local.go, which points up"},
		"a new backend at a provider":    {"clusters/backend/consul/start.go", "lockcheck/clusters/provider/docker", "clusters/backend/consul/start.go:3 imports clusters/provider/docker/docker.go, which points up"},
		"a backend at another":           {"clusters/backend/zookeeper/start.go", "lockcheck/clusters/backend/etcd", "clusters/backend/zookeeper/start.go:3 imports clusters/backend/etcd/etcd.go, which points up"},
		"a backend at parts of another":  {"clusters/backend/etcd/start.go", "lockcheck/clusters/backend/redis/server", "clusters/backend/etcd/start.go:3 imports clusters/backend/redis/server/server.go, which points up"},
		"a part of a backend":            {"clusters/backend/redis/record/record.go", "lockcheck/clusters/backend/redlock", "clusters/backend/redis/record/record.go:3 imports clusters/backend/redlock/redlock.go, which points up"},
		"a test of a backend at another": {"clusters/backend/redlock/a_test.go", "lockcheck/clusters/backend/etcd", "clusters/backend/redlock/a_test.go:3 imports clusters/backend/etcd/etcd.go, which points up"},
		"redlock at what it shares":      {"clusters/backend/redlock/start.go", "lockcheck/clusters/backend/redis/server", ""},
		"redlock at redis":               {"clusters/backend/redlock/start.go", "lockcheck/clusters/backend/redis", "clusters/backend/redlock/start.go:3 imports clusters/backend/redis/redis.go, which points up"},
		"a test of a backend":            {"clusters/backend/etcd/start_test.go", "lockcheck/clusters/provider/local", ""},
		"a backend at the SDK":           {"clusters/backend/etcd/start.go", "lockcheck/clusters/client", ""},
		"a provider at a backend":        {"clusters/provider/local/start.go", "lockcheck/clusters/backend/etcd", "clusters/provider/local/start.go:3 imports clusters/backend/etcd/etcd.go, which points up"},
		"a provider at another":          {"clusters/provider/docker/start.go", "lockcheck/clusters/provider/local", "clusters/provider/docker/start.go:3 imports clusters/provider/local/local.go, which points up"},
		"a test of a provider":           {"clusters/provider/docker/start_test.go", "lockcheck/clusters/backend/redis/server", "clusters/provider/docker/start_test.go:3 imports clusters/backend/redis/server/server.go, which points up"},
		"the front door at a backend":    {"clusters/start.go", "lockcheck/clusters/backend/etcd", "clusters/start.go:3 imports clusters/backend/etcd/etcd.go, which points up"},
		"the SDK at the front door":      {"clusters/client/lock.go", "lockcheck/clusters", "clusters/client/lock.go:3 imports clusters/clusters.go, which points up"},
		"the SDK at the resource":        {"clusters/client/lock.go", "lockcheck/clusters/resource", ""},
		"the SDK at workloads":           {"clusters/client/lock.go", "lockcheck/workloads/driver", "clusters/client/lock.go:3 imports workloads/driver/driver.go, which points up"},
		"the SDK at nemesis":             {"clusters/client/lock.go", "lockcheck/nemesis", "clusters/client/lock.go:3 imports nemesis/nemesis.go, which points up"},
		"the SDK at reports":             {"clusters/client/lock.go", "lockcheck/reports/words", "clusters/client/lock.go:3 imports reports/words/words.go, which points up"},
		"the resource, a leaf":           {"clusters/resource/wire.go", "lockcheck/clusters/client", "clusters/resource/wire.go:3 imports clusters/client/client.go, which points up: clusters/resource may import of the others only: none"},
		"procs, a leaf":                  {"clusters/provider/procs/procs.go", "lockcheck/clusters", "clusters/provider/procs/procs.go:3 imports clusters/clusters.go, which points up"},
		"setting, a leaf":                {"clusters/setting/setting.go", "lockcheck/clusters", "clusters/setting/setting.go:3 imports clusters/clusters.go, which points up"},
		"testkit, a leaf":                {"clusters/testkit/must.go", "lockcheck/clusters/provider/local", "clusters/testkit/must.go:3 imports clusters/provider/local/local.go, which points up"},

		"what is for tests":               {"reports/page/page.go", "lockcheck/reports/testkit/browserkit", "reports/page/page.go:3 imports reports/testkit/browserkit/browserkit.go, which is for tests only"},
		"what is for tests, from cmd":     {"cmd/lockcheck/run.go", "lockcheck/clusters/testkit/wire", "cmd/lockcheck/run.go:3 imports clusters/testkit/wire/wire.go, which is for tests only"},
		"what is for tests, from a test":  {"cmd/lockcheck/run_test.go", "lockcheck/reports/testkit/browserkit", ""},
		"what is for tests, from another": {"clusters/testkit/backends/main.go", "lockcheck/clusters/testkit", ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			plant := func(file, text string) {
				file = filepath.Join(root, file)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if folder, own := strings.CutPrefix(planted.imports, module); own {
				plant(filepath.Join(folder, filepath.Base(folder)+".go"), "package p\n")
			}
			plant(planted.file, "package p\n\nimport _ \""+planted.imports+"\"\n")
			wrong, err := Up(root)
			switch all := strings.Join(wrong, "\n"); {
			case err != nil:
				t.Fatal(err)
			case planted.want == "" && all != "", !strings.HasPrefix(all, planted.want):
				t.Errorf("found %q, want %q", all, planted.want)
			}
		})
	}
}

// A line of the tables that names a folder which is not there any more would hold nothing to its rule.
func TestTheTablesNameFoldersThatAreThere(t *testing.T) {
	named := slices.Clone(forTests)
	for folder, may := range below {
		named = append(append(named, folder), may...)
	}
	for folder, may := range inside {
		named = slices.Concat(named, []string{strings.TrimSuffix(folder, "/*")}, may.all, may.tests)
	}
	for _, folder := range named {
		if info, err := os.Stat(filepath.Join("../../..", folder)); err != nil || !info.IsDir() {
			t.Errorf("there is no folder %s", folder)
		}
	}
}

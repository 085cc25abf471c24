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
		"code":              {"clusters/etcd/etcd.go", "lockcheck/workloads/driver", "clusters/etcd/etcd.go:3 imports workloads/driver/driver.go, which points up"},
		"a test":            {"checker/lock_test.go", "lockcheck/clusters", "checker/lock_test.go:3 imports clusters/clusters.go, which points up"},
		"a neighbour":       {"reports/page.go", "lockcheck/workloads", "reports/page.go:3 imports workloads/workloads.go, which points up"},
		"down":              {"cmd/lockcheck/run.go", "lockcheck/checker", ""},
		"within one folder": {"clusters/etcd/etcd.go", "lockcheck/clusters", ""},
		"within reports":    {"reports/words/words.go", "lockcheck/reports/page", "reports/words/words.go:3 imports reports/page/page.go, which points up"},
		"down in reports":   {"reports/page/page.go", "lockcheck/reports/words", ""},
		"another module":    {"checker/model.go", "example.com/clusters", ""},

		"a backend at a provider":        {"clusters/etcd/start.go", "lockcheck/clusters/local", "clusters/etcd/start.go:3 imports clusters/local/local.go, which points up"},
		"a new backend at a provider":    {"clusters/consul/start.go", "lockcheck/clusters/docker", "clusters/consul/start.go:3 imports clusters/docker/docker.go, which points up"},
		"a backend at another":           {"clusters/zookeeper/start.go", "lockcheck/clusters/etcd", "clusters/zookeeper/start.go:3 imports clusters/etcd/etcd.go, which points up"},
		"a backend at parts of another":  {"clusters/etcd/start.go", "lockcheck/clusters/redis/server", "clusters/etcd/start.go:3 imports clusters/redis/server/server.go, which points up"},
		"a part of a backend":            {"clusters/redis/record/record.go", "lockcheck/clusters/redlock", "clusters/redis/record/record.go:3 imports clusters/redlock/redlock.go, which points up"},
		"a test of a backend at another": {"clusters/redlock/a_test.go", "lockcheck/clusters/etcd", "clusters/redlock/a_test.go:3 imports clusters/etcd/etcd.go, which points up"},
		"redlock at what it shares":      {"clusters/redlock/start.go", "lockcheck/clusters/redis/server", ""},
		"redlock at redis":               {"clusters/redlock/start.go", "lockcheck/clusters/redis", "clusters/redlock/start.go:3 imports clusters/redis/redis.go, which points up"},
		"a test of a backend":            {"clusters/etcd/start_test.go", "lockcheck/clusters/local", ""},
		"a backend at the SDK":           {"clusters/etcd/start.go", "lockcheck/clusters/client", ""},
		"a provider at a backend":        {"clusters/local/start.go", "lockcheck/clusters/etcd", "clusters/local/start.go:3 imports clusters/etcd/etcd.go, which points up"},
		"a provider at another":          {"clusters/docker/start.go", "lockcheck/clusters/local", "clusters/docker/start.go:3 imports clusters/local/local.go, which points up"},
		"a test of a provider":           {"clusters/docker/start_test.go", "lockcheck/clusters/redis/server", "clusters/docker/start_test.go:3 imports clusters/redis/server/server.go, which points up"},
		"the front door at a backend":    {"clusters/start.go", "lockcheck/clusters/etcd", "clusters/start.go:3 imports clusters/etcd/etcd.go, which points up"},
		"the SDK at the front door":      {"clusters/client/lock.go", "lockcheck/clusters", "clusters/client/lock.go:3 imports clusters/clusters.go, which points up"},
		"the SDK at the resource":        {"clusters/client/lock.go", "lockcheck/clusters/resource", ""},
		"the SDK at workloads":           {"clusters/client/lock.go", "lockcheck/workloads/driver", "clusters/client/lock.go:3 imports workloads/driver/driver.go, which points up"},
		"the SDK at nemesis":             {"clusters/client/lock.go", "lockcheck/nemesis", "clusters/client/lock.go:3 imports nemesis/nemesis.go, which points up"},
		"the SDK at reports":             {"clusters/client/lock.go", "lockcheck/reports/words", "clusters/client/lock.go:3 imports reports/words/words.go, which points up"},
		"the resource, a leaf":           {"clusters/resource/wire.go", "lockcheck/clusters/client", "clusters/resource/wire.go:3 imports clusters/client/client.go, which points up: clusters/resource may import of the others only: none"},
		"procs, a leaf":                  {"clusters/procs/procs.go", "lockcheck/clusters", "clusters/procs/procs.go:3 imports clusters/clusters.go, which points up"},
		"setting, a leaf":                {"clusters/setting/setting.go", "lockcheck/clusters", "clusters/setting/setting.go:3 imports clusters/clusters.go, which points up"},
		"hosttest, a leaf":               {"clusters/hosttest/hosts.go", "lockcheck/clusters/local", "clusters/hosttest/hosts.go:3 imports clusters/local/local.go, which points up"},

		"what is for tests":               {"reports/page/page.go", "lockcheck/reports/browsertest", "reports/page/page.go:3 imports reports/browsertest/browsertest.go, which is for tests only"},
		"what is for tests, from cmd":     {"cmd/lockcheck/run.go", "lockcheck/clusters/client/clienttest/wire", "cmd/lockcheck/run.go:3 imports clusters/client/clienttest/wire/wire.go, which is for tests only"},
		"what is for tests, from a test":  {"cmd/lockcheck/run_test.go", "lockcheck/reports/browsertest", ""},
		"what is for tests, from another": {"clusters/local/localtest/localtest.go", "lockcheck/clusters/hosttest", ""},
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

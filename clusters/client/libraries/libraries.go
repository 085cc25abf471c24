// Package libraries is where tests get the lock clients of this folder from: each is a program that drives a library which
// people use, through the client protocol. README.md says what they are.
package libraries

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Library is one lock client.
type Library struct {
	Name    string // of the folder
	Backend string
	prepare func(t *testing.T, folder string) []string
	// Steady are arguments for a library whose waiters are known to miss their wake-up now and then (README.md says why): with them
	// they do not. None: they never do.
	Steady []string
}

// All is the table of them.
var All = []Library{
	{Name: "etcd-3.4", Backend: "etcd", prepare: built},
	{Name: "kazoo", Backend: "zookeeper", prepare: python("kazoo", "python3-kazoo")},
	{Name: "curator", Backend: "zookeeper",
		prepare: java("CuratorClient", "libcurator-recipes-java", "curator-recipes.jar", "jackson-databind.jar", "slf4j-simple.jar")},
	{Name: "redis-py", Backend: "redis", prepare: python("redis", "python3-redis")},
	{Name: "bsm-redislock", Backend: "redis", prepare: built},
	{Name: "rueidislock", Backend: "redis", prepare: built, Steady: []string{"-poll"}},
}

// Command is how the client is started, which is built first if it has to be. Where something is missing the test is skipped;
// with CI=true it fails.
func (l Library) Command(t *testing.T) []string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	return l.prepare(t, filepath.Join(filepath.Dir(here), l.Name))
}

// systemPython is the one that Debian's packages are for.
const systemPython = "/usr/bin/python3"

// python is a client in Python that needs a module.
func python(module, pack string) func(*testing.T, string) []string {
	return func(t *testing.T, folder string) []string {
		t.Helper()
		if out, err := exec.Command(systemPython, "-c", "import "+module).CombinedOutput(); err != nil {
			Missing(t, "%s has no module %s: apt-get install %s (%v: %s)", systemPython, module, pack, err, out)
		}
		return []string{filepath.Join(folder, "client.py")}
	}
}

// jvmOptions make a small client that starts fast, and keep the JVM's own warnings off standard output: it would print that its
// file of statistics is locked, because clients in containers or namespaces have the same process ids and share /tmp.
var jvmOptions = []string{
	"-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xlog:disable", "-Xlog:all=warning:stderr",
	"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
}

// java is a client in Java, compiled for the test, that needs jars of Debian's.
func java(class, pack string, jars ...string) func(*testing.T, string) []string {
	return func(t *testing.T, folder string) []string {
		t.Helper()
		classes := t.TempDir()
		path := classes
		for _, jar := range jars {
			path += ":" + filepath.Join("/usr/share/java", jar)
		}
		sources, _ := filepath.Glob(filepath.Join(folder, "*.java"))
		compile := exec.Command("javac", append([]string{"-d", classes, "-cp", path}, sources...)...)
		if _, err := os.Stat(filepath.Join("/usr/share/java", jars[0])); err != nil || compile.Err != nil {
			Missing(t, "the lock client in %s needs a JDK and %s: apt-get install default-jdk-headless %s (%v, %v)", folder, jars[0], pack, err, compile.Err)
		}
		if out, err := compile.CombinedOutput(); err != nil {
			t.Fatalf("compiling the lock client in %s: %v\n%s", folder, err, out)
		}
		return append(append([]string{"java"}, jvmOptions...), "-cp", path, class)
	}
}

// built is a client in Go, a module of its own: what it requires is none of lockcheck's business.
func built(t *testing.T, folder string) []string {
	t.Helper()
	program := filepath.Join(t.TempDir(), filepath.Base(folder))
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir, build.Env = folder, append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the lock client in %s: %v\n%s", folder, err, out)
	}
	return []string{program}
}

// Missing skips a test, or fails it with CI=true.
func Missing(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// CommandLine is what --client takes.
func CommandLine(command []string) string { return strings.Join(command, " ") }

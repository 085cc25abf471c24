//go:build e2e

package main_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"
)

// Services that a test starts by hand, outside of any provider, for runs that attach to them.

// startService starts a server that ends with the test.
func startService(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := startOnAThreadThatStays(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s said last: %.2000s", name, text[max(0, len(text)-2000):])
		}
		log.Close()
	})
}

// forking starts processes on one thread that never ends: the parent-death signal comes when the thread does.
var forking = make(chan func())

func init() {
	go func() {
		runtime.LockOSThread()
		for do := range forking {
			do()
		}
	}()
}

func startOnAThreadThatStays(cmd *exec.Cmd) error {
	started := make(chan error)
	forking <- func() { started <- cmd.Start() }
	return <-started
}

// freePort is one that nothing listened at a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeAccess is a file for --attach-config.
func writeAccess(t *testing.T, password string, words map[string]string) string {
	t.Helper()
	var text strings.Builder
	for name, value := range words {
		fmt.Fprintf(&text, "%s: %q\n", name, value)
	}
	if password != "" {
		fmt.Fprintf(&text, "password_file: %q\n", writeFile(t, "password", password+"\n"))
	}
	return writeFile(t, "access.yaml", text.String())
}

// awaitService waits until a server answers.
func awaitService(t *testing.T, ask func(context.Context) error) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		err := ask(ctx)
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// redisServer is a server that a test started.
type redisServer struct {
	endpoint string
	admin    *redis.Client
}

// startRedis starts a server whose user locker may use keys of lockcheck's, with the commands of its lock clients.
func startRedis(t *testing.T, password string) *redisServer {
	t.Helper()
	port := strconv.Itoa(freePort(t))
	startService(t, "redis-server", writeFile(t, "redis.conf", strings.Join([]string{
		"port " + port, "bind 127.0.0.1", `save ""`, "dir " + t.TempDir(), "user default off",
		"user locker on >" + password + " ~lockcheck:* -@all +get +set +del +exists +incr +pexpire +eval +evalsha",
		"user application on >of-the-test ~* &* +@all", "",
	}, "\n")))
	s := &redisServer{endpoint: "127.0.0.1:" + port}
	s.admin = redis.NewClient(&redis.Options{Addr: s.endpoint, Username: "application", Password: "of-the-test"})
	t.Cleanup(func() { s.admin.Close() })
	awaitService(t, func(ctx context.Context) error { return s.admin.Set(ctx, "application:x", "\x00y\xff", 0).Err() })
	if err := s.admin.RPush(t.Context(), "lockchecker", "1", "2").Err(); err != nil { // no key of lockcheck's, for all its name
		t.Fatal(err)
	}
	return s
}

// dump is all that the server has, byte for byte.
func (s *redisServer) dump(t *testing.T) string {
	t.Helper()
	keys, err := s.admin.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	var all strings.Builder
	for _, key := range keys {
		value, err := s.admin.Dump(t.Context(), key).Result()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s %x\n", key, value)
	}
	return all.String()
}

// zooKeeper is a server that a test started.
type zooKeeper struct {
	endpoint string
	admin    *zk.Conn
}

// startZooKeeper starts a server in which the base of all runs belongs to the user locker.
func startZooKeeper(t *testing.T, password string) *zooKeeper {
	t.Helper()
	const jars = "/usr/share/java/"
	if _, err := os.Stat(jars + "zookeeper.jar"); err != nil {
		skip(t, "%v", err)
	}
	port := strconv.Itoa(freePort(t))
	config := writeFile(t, "zoo.cfg", "tickTime=250\ndataDir="+t.TempDir()+"\nclientPort="+port+"\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n")
	startService(t, "java", "-Xmx128m", "-XX:+UseSerialGC", "-cp", jars+"zookeeper.jar:"+jars+"slf4j-simple.jar",
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", config)
	z := &zooKeeper{endpoint: "127.0.0.1:" + port}
	var err error
	if z.admin, _, err = zk.Connect([]string{z.endpoint}, time.Minute, zk.WithLogInfo(false), zk.WithLogger(noLog{})); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(z.admin.Close)
	awaitService(t, func(context.Context) error { return z.admin.AddAuth("digest", []byte("locker:"+password)) })
	for path, acl := range map[string][]zk.ACL{"/application": zk.WorldACL(zk.PermAll), "/lockcheck": zk.AuthACL(zk.PermAll)} {
		if _, err := z.admin.Create(path, []byte("\x00"+path+"\xff"), 0, acl); err != nil {
			t.Fatal(err)
		}
	}
	return z
}

// noLog silences the library, which logs that the server is not up yet.
type noLog struct{}

func (noLog) Printf(string, ...any) {}

// tree is all that there is, byte for byte, but for what the server counts of parents.
func (z *zooKeeper) tree(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	var walk func(path string)
	walk = func(path string) {
		data, stat, err := z.admin.Get(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		fmt.Fprintf(&all, "%s %x made %d changed %d\n", path, data, stat.Czxid, stat.Mzxid)
		children, _, err := z.admin.Children(path)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(children)
		for _, child := range children {
			if path+child != "/zookeeper" {
				walk(strings.TrimSuffix(path, "/") + "/" + child)
			}
		}
	}
	walk("/")
	return all.String()
}

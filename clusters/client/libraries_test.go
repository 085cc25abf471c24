//go:build e2e

package client

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client/libraries"
	"lockcheck/clusters/testkit/needs"
	"lockcheck/clusters/testkit/wire"
)

// The lock clients of libraries/ conform, each with a real server of its own.
func TestLibrariesConform(t *testing.T) {
	withLibrariesTimes(t)
	for _, library := range libraries.All {
		t.Run(library.Name, func(t *testing.T) {
			t.Parallel()
			conform(t, append(library.Command(t), library.Steady...), []string{servers[library.Backend](t)})
		})
	}
}

// A client whose library has a call that asks the service asks about its own record, and what is not answered is no leave to write.
func TestLibrariesThatCanAskDo(t *testing.T) {
	withLibrariesTimes(t)
	for _, library := range libraries.All {
		asks := map[string]bool{"redis-py": true, "bsm-redislock": true}[library.Name]
		t.Run(library.Name, func(t *testing.T) {
			t.Parallel()
			command := append(library.Command(t), library.Steady...)
			w := wire.New(t, servers[library.Backend](t))
			p := startProcess(t, command, []string{w.Addr}, register(t), "a")
			if named := slices.Contains(p.commands, string(history.GuardAsk)); named != asks {
				t.Errorf("it names the guard ask: %v", named)
			}
			if asks {
				asksAboutItsOwn(t, p, w)
			}
		})
	}
}

// README.md's client in Java is one that the base class takes.
func TestTheClientInJavaCompiles(t *testing.T) {
	program := filepath.Join(t.TempDir(), "MyClient.java")
	if err := os.WriteFile(program, []byte(fenced(t, "java")[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	const jar = "/usr/share/java/jackson-databind.jar"
	compile := exec.Command("javac", "-d", t.TempDir(), "-cp", jar, "libraries/curator/LockClient.java", program)
	if _, err := os.Stat(jar); err != nil || compile.Err != nil {
		libraries.Missing(t, "a JDK or %s is missing: apt-get install default-jdk-headless libjackson2-databind-java (%v, %v)", jar, err, compile.Err)
	}
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// asksAboutItsOwn is of a client of Redis.
func asksAboutItsOwn(t *testing.T, p *process, w *wire.Wire) {
	t.Helper()
	p.send(`{"cmd":"acquire","op":1,"hold":"h","key":"k"}`)
	p.answer(1, MsgOK)
	const write = `{"cmd":"write","op":%d,"hold":"h","key":"k","value":"v%d","work_ms":1,"guard":"ask"}`
	p.send(fmt.Sprintf(write, 2, 2))
	p.answer(2, MsgOK)
	for op, change := range []string{3: "SET lockcheck:k of-another\r\n", 4: "DEL lockcheck:k\r\n"} {
		if change == "" {
			continue
		}
		if got := ask(w.Addr, change); len(got) == 0 || got[0] == '-' {
			t.Fatalf("%q was answered %q", change, got)
		}
		p.send(fmt.Sprintf(write, op, op))
		if r := p.answer(int64(op), MsgFail); r.Code != history.CodeGuard || !r.Held {
			t.Errorf("after %q the write answered %s, want held back by its guard, and the flag as it is", change, line(r))
		}
	}
	w.Hold(wire.ToClient)
	p.send(fmt.Sprintf(write, 5, 5))
	if r := p.answer(5, MsgFail); r.Code != history.CodeUnanswered {
		t.Errorf("without an answer the write answered %s, want the code unanswered", line(r))
	}
}

const (
	librariesTTL = 10 * time.Second
	// A JVM or Python has a runtime to end, for which a busy machine may need many times what an idle one does.
	librariesExitTimeout = time.Minute
)

// withLibrariesTimes gives clients of a test more time than a busy machine stands still: losing a lease, or being killed by a run, is not what
// it is about.
func withLibrariesTimes(t *testing.T) {
	t.Helper()
	ttl, exit := *ttlFlag, exitTimeout
	*ttlFlag, exitTimeout = librariesTTL, librariesExitTimeout
	t.Cleanup(func() { *ttlFlag, exitTimeout = ttl, exit })
}

// servers start one server each, for a test, and return its address.
var servers = map[string]func(*testing.T) string{"etcd": startEtcd, "redis": startRedis, "zookeeper": startZooKeeper}

func startEtcd(t *testing.T) string {
	t.Helper()
	addr := needs.Address(t)
	clients, peers := "http://"+addr, "http://"+needs.Address(t)
	startServer(t, "etcd", "--data-dir", t.TempDir(), "--listen-client-urls", clients, "--advertise-client-urls", clients,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers)
	answers(t, addr, "GET /health HTTP/1.0\r\n\r\n", `"health":"true"`)
	return addr
}

func startRedis(t *testing.T) string {
	t.Helper()
	addr := needs.Address(t)
	_, port, _ := net.SplitHostPort(addr)
	startServer(t, "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
	answers(t, addr, "PING\r\n", "+PONG")
	return addr
}

// jars are Debian's: the server, and what it logs with.
const jars = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"

func startZooKeeper(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat(filepath.SplitList(jars)[0]); err != nil {
		libraries.Missing(t, "ZooKeeper is not there: apt-get install libzookeeper-java default-jre-headless (%v)", err)
	}
	addr := needs.Address(t)
	_, port, _ := net.SplitHostPort(addr)
	tickMS := strconv.FormatInt(librariesTTL.Milliseconds()/20, 10) // sessions live at most 20 ticks
	startServer(t, "java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.admin.enableServer=false",
		"-cp", jars, "org.apache.zookeeper.server.ZooKeeperServerMain", port, t.TempDir(), tickMS)
	answers(t, addr, "srvr", "Mode: standalone")
	return addr
}

// startServer starts a program that ends with the test, and whose output is shown if that failed.
func startServer(t *testing.T, program string, args ...string) {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		libraries.Missing(t, "%s is not there: %v", program, err)
	}
	server := exec.Command(path, args...)
	var printed bytes.Buffer
	server.Stdout, server.Stderr = &printed, &printed
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
		if t.Failed() {
			t.Logf("%s printed:\n%s", program, printed.String())
		}
	})
}

// answers waits until a server answers a question as it does when it is ready.
func answers(t *testing.T, addr, question, want string) {
	t.Helper()
	const timeout = 30 * time.Second
	var got []byte
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = ask(addr, question); bytes.Contains(got, []byte(want)) {
			return
		}
	}
	t.Fatalf("the server at %s answered %q with %q for %v, want %q", addr, question, got, timeout, want)
}

// ask is the beginning of a server's answer, empty if there is none.
func ask(addr, question string) []byte {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return nil
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte(question)); err != nil {
		return nil
	}
	answer := make([]byte, 1<<12)
	n, _ := conn.Read(answer)
	return answer[:n]
}

//go:build e2e

package main_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"lockcheck/checker/model"
	"lockcheck/clusters/testkit"
	"lockcheck/clusters/testkit/needs"
	"lockcheck/reports/rundir"
)

// attachedRun is a run at a service that this test started, with a planted secret; while it lasts, the command lines of all processes
// are searched for that.
func attachedRun(t *testing.T, secret string, args ...string) outcome {
	t.Helper()
	o := outcome{out: t.TempDir()}
	cmd := command(program, append(append([]string{"run", "--seed=1"}, args...), "--out="+o.out)...)
	defer placeFor(cmd)()
	watching, stop := context.WithCancel(t.Context())
	seen := make(chan string, 1)
	go func() { seen <- commandLineWith(watching, secret) }()
	o = finishAtOnce(t, cmd, o)
	stop()
	if where := <-seen; where != "" {
		t.Errorf("the secret was in the command line of a process: %q", where)
	}
	for name, text := range map[string]string{"standard output": o.stdout, "standard error": o.stderr} {
		if strings.Contains(text, secret) {
			t.Errorf("the secret is in %s", name)
		}
	}
	nowhereBelow(t, o.out, secret)
	return o
}

// commandLineWith looks at all processes until ctx is done: at each new one at every look for a second, in which it becomes the program that
// it is to be, and from then on once a second.
func commandLineWith(ctx context.Context, word string) string {
	const interval = 50 * time.Millisecond
	const looks = int(time.Second / interval)
	looked := map[string]int{}
	for ctx.Err() == nil {
		processes, _ := filepath.Glob("/proc/[0-9]*") // a pattern for a file below would read each of these folders
		before := looked
		looked = make(map[string]int, len(processes))
		for _, path := range processes {
			if looked[path] = before[path] + 1; looked[path] > looks && looked[path]%looks != 0 {
				continue
			}
			if text, err := os.ReadFile(path + "/cmdline"); err == nil && bytes.Contains(text, []byte(word)) {
				return string(bytes.ReplaceAll(text, []byte{0}, []byte(" ")))
			}
		}
		time.Sleep(interval)
	}
	return ""
}

func nowhereBelow(t *testing.T, dir, word string) {
	t.Helper()
	searched := 0
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		searched++
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(word)) {
			t.Errorf("the secret is in %s", path)
		}
		return err
	})
	if err != nil || searched == 0 {
		t.Errorf("%d files were searched for the secret: %v", searched, err)
	}
}

// notJudged says what is not judged where others run the servers: what needs their clock.
func notJudged(t *testing.T, o outcome) {
	t.Helper()
	for _, name := range []model.Name{model.EarlyExpiry, model.ReleaseByOwner, model.Liveness} {
		if p := o.of(t, name); p.Verdict != model.NotApplicable || !strings.Contains(p.Reason, "others run the servers") {
			t.Errorf("%s is %s (%s), want n/a, because others run the servers", name, p.Verdict, p.Reason)
		}
	}
}

// nothingRemembered says that the run knows of nothing that it left at the service.
func nothingRemembered(t *testing.T, o outcome) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(o.run(), rundir.AttachedFile)); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", rundir.AttachedFile, err)
	}
}

func endsWith(t *testing.T, o outcome, code int, words ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit %d, want %d\n%s", o.code, code, o.stderr)
	}
	for _, word := range words {
		if !strings.Contains(o.stderr, word) {
			t.Errorf("it does not say %q:\n%s", word, o.stderr)
		}
	}
}

// A member with TLS, certificates of clients and users, at an address of this machine that is none of loopback: clients see the same
// address, so that certificates hold. Another program uses it, and finds what it wrote as it wrote it.
func TestAttachedToEtcdUnderPausesAndPartitions(t *testing.T) {
	t.Parallel()
	const secret = "planted-7f3a91c2"
	member := startEtcd(t, testkit.OwnAddress(t), secret)
	app := member.use(t)
	access := member.access(t, secret)
	for _, d := range []disturbance{pauseHolder, cutOffHolder, cutOffFromServers} {
		o := disturbedRun(t, secret, d, "--backend=etcd", "--attach="+member.endpoint, "--attach-config="+access, "--time-limit=7s")
		endsWith(t, o, o.code, "attached to etcd at "+member.endpoint)
		mustPass(t, o, model.LockLinearizability, model.TokenMonotonicity)
		if o.code == 1 && d.nemesis == pauseHolder.nemesis && o.of(t, model.StaleWrite).Verdict != model.Violation {
			t.Error("a paused holder's write was not stale")
		}
	}
	app.found(t)
}

// exposed wants the run to have counted an exposure.
func exposed(t *testing.T, o outcome, name string) {
	t.Helper()
	for _, e := range o.results.Exposure {
		if e.Name == name && e.Count > 0 {
			return
		}
	}
	t.Errorf("no %s: %+v", name, o.results.Exposure)
}

// A run that was killed leaves its keys, and clean removes exactly these.
func TestCleanRemovesWhatAKilledRunLeftAtAService(t *testing.T) {
	t.Parallel()
	member := startEtcd(t, "127.0.0.1", "")
	app := member.use(t)
	cleanAfterKill(t, []string{"--backend=etcd"}, []string{"--attach=" + member.endpoint}, "removed keys below /lockcheck/",
		func() int { return len(member.keys(t, "/lockcheck/")) })
	app.found(t)
}

// cleanAfterKill kills a run once it has written, and wants clean to remove what it left. ours counts what is there of the run's.
func cleanAfterKill(t *testing.T, run, attach []string, says string, ours func() int) {
	t.Helper()
	out := "--out=" + t.TempDir()
	clean := func(attach ...string) (string, error) {
		text, err := exec.Command(program, append(append([]string{"clean"}, attach...), out)...).CombinedOutput()
		return string(text), err
	}
	cmd := command(program, append(append(append([]string{"run"}, run...), attach...), "--time-limit=1m", out)...)
	defer placeFor(cmd)()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ours() < 2; time.Sleep(20 * time.Millisecond) { // its probe's, and a lock's
		if time.Now().After(deadline) {
			t.Fatal("the run wrote nothing")
		}
	}
	busy, err := clean(attach...)
	if err != nil || !strings.Contains(busy, "is under way") || ours() == 0 {
		t.Errorf("while it is under way: %v, %d left\n%s", err, ours(), busy)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	// What it had started inside its namespaces ends with it, and may take a moment: as long as it lives, the run is under way.
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		said, _ := clean("--attach=127.0.0.1:9")
		if !strings.Contains(said, "is under way") || time.Now().After(deadline) {
			break
		}
	}
	elsewhere, err := clean("--attach=127.0.0.1:9")
	if err != nil || !strings.Contains(elsewhere, "was at "+strings.TrimPrefix(attach[0], "--attach=")) || ours() == 0 {
		t.Errorf("of another service: %v, %d left\n%s", err, ours(), elsewhere)
	}
	if said, err := clean(attach...); err != nil || !strings.Contains(said, says) {
		t.Errorf("%v: %s", err, said)
	}
	if left := ours(); left > 0 {
		t.Errorf("%d left", left)
	}
	if said, err := clean(attach...); err != nil || !strings.Contains(said, "no run below") {
		t.Errorf("once more: %v: %s", err, said)
	}
}

// A Redis whose user may use nothing but keys of lockcheck's and the commands of its lock clients.
func TestAttachedToRedisWithAnACL(t *testing.T) {
	t.Parallel()
	const secret = "planted-0b6e44d1"
	server := startRedis(t, secret)
	access := writeAccess(t, secret, map[string]string{"username": "locker"})
	before := server.dump(t)
	o := disturbedRun(t, secret, pauseHolder, "--backend=redis", "--client=setnx-incr", "--attach="+server.endpoint, "--attach-config="+access, "--time-limit=7s")
	endsWith(t, o, 1, "keys that begin with lockcheck:")
	if after := server.dump(t); after != before {
		t.Errorf("what another program has there was\n%s\nand is\n%s", before, after)
	}
	for name, c := range map[string]struct {
		password, client string
		code             int
		says             string
	}{
		"a wrong password": {"wrong", "setnx", 64, "WRONGPASS"},
		"no password":      {"", "setnx", 64, "NOPERM"},
	} {
		bad := outcome{out: t.TempDir()}
		cmd := command(program, "run", "--backend=redis", "--client="+c.client, "--attach="+server.endpoint, "--out="+bad.out)
		cmd.Env = append(os.Environ(), "LOCKCHECK_PASSWORD="+c.password)
		bad = finish(t, cmd, bad)
		if !strings.Contains(bad.stderr, c.says) && !strings.Contains(bad.stderr, "NOAUTH") || bad.code != c.code {
			t.Errorf("%s: exit %d, want %d\n%s", name, bad.code, c.code, bad.stderr)
		}
		empty(t, bad)
	}
}

// empty wants a refused run to have left nothing.
func empty(t *testing.T, o outcome) {
	t.Helper()
	if left, err := os.ReadDir(o.out); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// A ZooKeeper in which what a run makes belongs to who shows its password, with TLS and without.
func TestAttachedToZooKeeperWithDigest(t *testing.T) {
	t.Parallel()
	const secret = "planted-5d20f9aa"
	server := startZooKeeper(t, secret)
	plain := map[string]string{"username": "locker"}
	secure := map[string]string{"username": "locker", "ca": server.ca, "cert": server.cert, "key": server.key}
	before := server.tree(t)
	for _, c := range []struct {
		endpoint string
		words    map[string]string
		fault    disturbance
	}{
		{server.endpoint, plain, cutOffFromServers},
		{server.secure, secure, pauseHolder},
		{server.secure, secure, cutOffHolder},
	} {
		if c.fault.nemesis == cutOff && !soaking() {
			continue // TestAttachedToEtcdUnderPausesAndPartitions shows what a cut comes to
		}
		o := disturbedRun(t, secret, c.fault, "--backend=zookeeper", "--attach="+c.endpoint, "--attach-config="+writeAccess(t, secret, c.words), "--time-limit=7s")
		endsWith(t, o, o.code, "nodes below /lockcheck/")
		mustPass(t, o, model.TokenMonotonicity)
		if after := server.tree(t); after != before {
			t.Errorf("what another program has there was\n%s\nand is\n%s", before, after)
		}
	}
	for _, c := range []struct {
		endpoint, password string
		words              map[string]string
		code               int
		says               []string
	}{
		{server.endpoint, "wrong", plain, 64, []string{"does not let this user make /lockcheck/", "password_file"}},
		{server.secure, secret, plain, 69, []string{"does it speak TLS"}},
		{server.endpoint, secret, secure, 69, []string{"does it speak TLS"}},
	} {
		bad := atOnce(t, program, "run", "--backend=zookeeper", "--attach="+c.endpoint, "--attach-config="+writeAccess(t, c.password, c.words))
		endsWith(t, bad, c.code, c.says...)
		empty(t, bad)
	}
	if after := server.tree(t); after != before {
		t.Errorf("refused, it left\n%s", after)
	}
}

// What cannot be is said in a sentence, with its exit code, and nothing is left.
func TestWhatCannotBeAttachedTo(t *testing.T) {
	t.Parallel()
	member := startEtcd(t, "127.0.0.1", "pw-of-this-test")
	closed := "127.0.0.1:" + strconv.Itoa(needs.Port(t))
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"refused":             {[]string{"--backend=etcd", "--attach=" + closed}, 69, []string{closed + " cannot be connected to", "connection refused"}},
		"no such name":        {[]string{"--backend=etcd", "--attach=nowhere.invalid:2379"}, 69, []string{"nowhere.invalid:2379 cannot be found"}},
		"the wrong service":   {[]string{"--backend=redis", "--attach=" + member.endpoint}, 69, []string{"is it Redis"}},
		"no TLS":              {[]string{"--backend=etcd", "--attach=" + member.endpoint}, 69, []string{"does it speak TLS"}},
		"no certificate":      {[]string{"--backend=etcd", "--attach=" + member.endpoint, "--attach-config=" + writeAccess(t, "", map[string]string{"ca": member.ca})}, 69, []string{"does it speak TLS"}},
		"a wrong password":    {[]string{"--backend=etcd", "--attach=" + member.endpoint, "--attach-config=" + member.access(t, "wrong")}, 64, []string{"does not let this user in", "password_file"}},
		"faults of servers":   {[]string{"--backend=etcd", "--attach=" + closed, "--nemesis=kill:leader"}, 64, []string{"with --attach others run the servers"}},
		"a change of leaders": {[]string{"--backend=etcd", "--attach=" + closed, "--nemesis=failover"}, 64, []string{"with --attach others run the servers"}},
		"a number of servers": {[]string{"--backend=etcd", "--attach=" + closed, "--nodes=3"}, 64, []string{"--nodes is for servers that lockcheck starts"}},
		"a field that is not": {[]string{"--backend=etcd", "--attach=" + closed, "--attach-config=" + writeFile(t, "a.yaml", "ca: x\npasword_file: y\n")}, 64, []string{"a.yaml:2:1: the file has no key \"pasword_file\" (did you mean password_file?)"}},
		"a file that is not":  {[]string{"--backend=etcd", "--attach=" + closed, "--attach-config=" + writeFile(t, "b.yaml", "username: u\nca: /no/such.pem\n")}, 64, []string{"b.yaml:2:5: ca: /no/such.pem"}},
		"Sentinels":           {[]string{"--backend=redis", "--attach=" + closed + ",127.0.0.1:9"}, 64, []string{"has to name the master"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := atOnce(t, program, append([]string{"run", "--seed=1"}, c.args...)...)
			endsWith(t, o, c.code, c.says...)
			empty(t, o)
		})
	}
}

// A client of one's own, at a service that lockcheck knows nothing of, is told where that is and what it wants to be shown.
func TestAttachedToAnyServiceWithAClientOfOnesOwn(t *testing.T) {
	t.Parallel()
	const secret = "planted-e4c8b012"
	member := startEtcd(t, "127.0.0.1", secret)
	app := member.use(t)
	o := attachedRun(t, secret, endingAt([]model.Name{model.MutualExclusion}, "--backend=other", "--client="+program+" client etcd",
		"--attach="+member.endpoint, "--attach-config="+member.access(t, secret), "--nemesis=pause:holder@work,1.5ttl", "--time-limit=8s", "--max-rate=10")...)
	endsWith(t, o, 1, "what your client makes of them is up to it; lockcheck itself reads and writes nothing there", "at most 10 acquires a second")
	exposed(t, o, "pauses-past-the-lease")
	notJudged(t, o)
	nothingRemembered(t, o)
	app.found(t)
	for says, args := range map[string][]string{
		"comes with no lock client":        {"--attach=" + member.endpoint},
		"cannot start a service":           {"--client=" + program},
		"nothing is known of the settings": {"--attach=" + member.endpoint, "--client=" + program, "--set=a=b"},
	} {
		bad := atOnce(t, program, append([]string{"run", "--backend=other"}, args...)...)
		endsWith(t, bad, 64, says)
		empty(t, bad)
	}
}

// takenPrefix is that of every run of the planted program.
const takenPrefix = "20260102-0123abcd/"

// A run that finds keys of its own names does not begin, and leaves them as they are.
func TestARunUsesNoKeysThatAreThereAlready(t *testing.T) {
	t.Parallel()
	member := startEtcd(t, "127.0.0.1", "")
	if _, err := member.admin.Put(t.Context(), "/lockcheck/"+takenPrefix+"k1", "somebody's"); err != nil {
		t.Fatal(err)
	}
	server := startRedis(t, "of-the-locker")
	if err := server.admin.Set(t.Context(), "lockcheck:"+takenPrefix+"k1:token", "7", 0).Err(); err != nil {
		t.Fatal(err)
	}
	keeper := startZooKeeper(t, "of-the-locker")
	if _, err := keeper.admin.Create("/lockcheck/"+strings.TrimSuffix(takenPrefix, "/"), []byte("somebody's"), 0, zk.AuthACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	access := writeAccess(t, "of-the-locker", map[string]string{"username": "locker"})
	for _, c := range []struct {
		args  []string
		says  string
		there func() string
	}{
		{[]string{"--backend=etcd", "--attach=" + member.endpoint}, "/lockcheck/" + takenPrefix + "k1", func() string { return strings.Join(member.keys(t, ""), "\n") }},
		{[]string{"--backend=redis", "--attach=" + server.endpoint, "--attach-config=" + access}, "lockcheck:" + takenPrefix + "k1:token", func() string { return server.dump(t) }},
		{[]string{"--backend=zookeeper", "--attach=" + keeper.endpoint, "--attach-config=" + access}, "/lockcheck/20260102-0123abcd", func() string { return keeper.tree(t) }},
	} {
		before := c.there()
		o := atOnce(t, planted, append([]string{"run", "--seed=1"}, c.args...)...)
		endsWith(t, o, 69, "a run uses none that it did not make: "+c.says)
		empty(t, o)
		if after := c.there(); after != before {
			t.Errorf("it was\n%s\nand is\n%s", before, after)
		}
	}
}

//go:build e2e

package main_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/model"
	"lockcheck/clusters/provider/docker"
	"lockcheck/clusters/testkit/needs"
)

// storage is the command of the example in clusters/resource/README.md with parts of it replaced: those that make it a mutant of
// testdata/mutants.json there, and more, in pairs of what was and what is instead.
func storage(t *testing.T, mutant string, changes ...string) string {
	t.Helper()
	const folder = "../../clusters/resource/"
	table, err := os.ReadFile(folder + "testdata/mutants.json")
	if err != nil {
		t.Fatal(err)
	}
	var mutants map[string][]string
	if err := json.Unmarshal(table, &mutants); err != nil {
		t.Fatal(err)
	}
	if mutant != "" && mutants[mutant] == nil {
		t.Fatalf("there is no mutant %q", mutant)
	}
	return "--resource=" + example(t, folder+"README.md", "storage.py", slices.Concat(mutants[mutant], changes)...)
}

// Scenarios in which a fenced resource has to prove itself, each forced.
var (
	undisturbed = []string{"--nemesis=none", "--time-limit=3s"}
	// A write comes late: its client was stopped at work until others had the lock.
	heldUpWrite = []string{"--nemesis=pause:holder@work,1.5ttl", meetsPause, "--time-limit=8s"}
	// A read comes late: it was held up on its way, and its client stopped until others had the lock. It queues behind several clients, so
	// that it is cut off before it is granted the lock.
	heldUpRead = []string{"--nemesis=partition:client(1)-resource@queue;pause:client(1)@acquire,1.5ttl", meetsPause, "--time-limit=14s", "--clients=6"}
	// A write is on its way through a slow resource while its client's lease ends behind a cut.
	slowWrite = []string{"--nemesis=partition:holder-servers@work,3ttl", "--guard=none", "--time-limit=10s"}
	// A write comes late, and the resource was started again since it served the newer holder. That one was killed, so until its lease ends,
	// which is at least two thirds of it, no client can be granted the lock and show the resource its token anew. Half of that time is
	// the resource's, to be back.
	restarted = []string{"--nemesis=pause:holder@work;kill:holder@work;kill:resource,at-once,0.33ttl", meetsPause, "--clients=2", "--ttl=9s", "--time-limit=24s"}
	// On a busy machine a server answered 11 s after it was killed. Of long holds each would meet the next kill, and hardly a write be answered.
	killedStorage = []string{"--nemesis=kill:resource@worked,at-once", "--work=20ms..120ms,tries,given-up", "--time-limit=20s"}
)

// A fenced resource that is right passes, and each way to get it wrong is found by the property that is about it.
func TestStoragesUnderTest(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		mutant   string
		changes  []string
		scenario []string
		may      []model.Name // be violated beside resource-integrity
		shownBy  string
	}{
		{scenario: heldUpWrite, shownBy: "TestStoragesUnderTest: right under a held-up read; the example of TestJobsOnEveryResource"},
		{scenario: heldUpRead},
		{scenario: killedStorage, shownBy: "TestStoragesUnderTest: right under a restart"},
		{scenario: restarted},
		{mutant: "tokens compared as text", scenario: undisturbed},
		{mutant: "equal tokens rejected", scenario: undisturbed},
		{mutant: "one mark for all keys", scenario: append([]string{"--keys=2"}, undisturbed...)},
		{mutant: "an empty log", scenario: undisturbed},
		{mutant: "only writes checked", scenario: heldUpRead},
		{mutant: "a rejected request raises", changes: []string{"int(mark) + 1)", "int(mark) + 1000)"}, scenario: heldUpWrite},
		{mutant: "check, then write", changes: []string{"WINDOW = 0.02", "WINDOW = 4"}, scenario: slowWrite, may: storageHarm},
		{mutant: "a mark in memory", scenario: restarted, may: storageHarm},
	} {
		for _, seed := range seeds() {
			name := row.mutant
			if name == "" {
				name = "right, under " + strings.TrimPrefix(row.scenario[0], "--nemesis=")
			}
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				t.Parallel()
				leftTo(t, row.shownBy)
				args := []string{"run", "--backend=etcd", oneServer, "--workload=fencing", "--provider=local", fmt.Sprintf("--seed=%d", seed), storage(t, row.mutant, row.changes...)}
				o := lockcheck(t, program, append(args, row.scenario...)...)
				judgeStorage(t, o, row.mutant != "", row.may)
			})
		}
	}
}

// A resource that takes no record of one register for a duplicate of another's passes; one that does loses jobs.
func TestIdempotencyKeysOfAStorageUnderTest(t *testing.T) {
	t.Parallel()
	for _, mutant := range []string{"", "one key space for all registers"} {
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("%s/%d", cmp.Or(mutant, "right"), seed), func(t *testing.T) {
				t.Parallel()
				args := []string{"run", "--backend=etcd", oneServer, "--workload=jobs", "--execution=idempotent", "--slot=200ms", "--keys=2", "--provider=local",
					fmt.Sprintf("--seed=%d", seed), storage(t, mutant)}
				judgeStorage(t, lockcheck(t, program, append(args, undisturbed...)...), mutant != "", nil)
			})
		}
	}
}

// Real database servers keep late writes from the data where there are tokens, lose nothing when they are killed in the middle, and
// cannot help a lock that has no tokens.
func TestStorageServersUnderTest(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		lock, storage string
		args          []string
		code          int
		violates      []model.Name
		shownBy       string
	}{
		{lock: "etcd", storage: "postgres", args: heldUpWrite},
		{lock: "etcd", storage: "redis", args: heldUpWrite, shownBy: "TestJobsOnEveryResource/redis"},
		{lock: "etcd", storage: "etcd", args: heldUpWrite, shownBy: "TestJobsOnEveryResource/etcd"},
		{lock: "etcd", storage: "postgres", args: killedStorage},
		{lock: "etcd", storage: "redis", args: killedStorage},
		{lock: "etcd", storage: "etcd", args: killedStorage},
		{lock: "redis", storage: "postgres", args: heldUpWrite, code: 1, violates: []model.Name{model.StaleWrite}}, // its default client has no tokens
	} {
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("%s behind %s/%s/%d", row.storage, row.lock, strings.TrimPrefix(row.args[0], "--nemesis="), seed), func(t *testing.T) {
				t.Parallel()
				leftTo(t, row.shownBy)
				o := lockcheck(t, program, append([]string{"run", "--backend=" + row.lock, oneServer, "--resource=" + row.storage, "--workload=fencing",
					"--provider=local", fmt.Sprintf("--seed=%d", seed)}, row.args...)...)
				if o.code != row.code {
					t.Errorf("exit %d, want %d\n%s", o.code, row.code, o.stdout)
				}
				mustPass(t, o, model.ResourceIntegrity)
				for _, name := range row.violates {
					if p := o.of(t, name); p.Verdict != model.Violation {
						t.Errorf("%s is %s, want violation", name, p.Verdict)
					}
				}
				sameWhenCheckedAgain(t, o)
			})
		}
	}
}

// In containers a database server is one from its own image, on a host of its own; faults hit it, and it keeps what it has answered.
func TestStorageServersInContainers(t *testing.T) {
	t.Parallel()
	paused := []string{"--nemesis=pause:resource@worked", "--time-limit=10s"}
	for _, row := range []struct {
		lock, storage string
		args          []string
		shownBy       string
	}{
		{lock: "redis", storage: "etcd", args: killedStorage},
		{lock: "etcd", storage: "postgres", args: paused},
		{lock: "etcd", storage: "redis", args: paused},
		{lock: "etcd", storage: "etcd", args: paused, shownBy: "TestStorageServersInContainers/etcd behind redis"},
		{lock: "etcd", storage: "postgres", args: killedStorage, shownBy: "TestStorageServersUnderTest"},
		{lock: "etcd", storage: "redis", args: killedStorage, shownBy: "TestStorageServersUnderTest"},
	} {
		for _, seed := range seeds() {
			t.Run(fmt.Sprintf("%s behind %s/%s/%d", row.storage, row.lock, strings.TrimPrefix(row.args[0], "--nemesis="), seed), func(t *testing.T) {
				t.Parallel()
				leftTo(t, row.shownBy)
				needDocker(t)
				o := lockcheck(t, program, append([]string{"run", "--backend=" + row.lock, oneServer, "--resource=" + row.storage, "--workload=fencing",
					"--provider=docker", "--clients=3", fmt.Sprintf("--seed=%d", seed)}, row.args...)...)
				if o.code != 0 {
					t.Errorf("exit %d, want 0\n%s", o.code, o.stdout)
				}
				mustPass(t, o, model.ResourceIntegrity)
				sameWhenCheckedAgain(t, o)
			})
		}
	}
}

// A resource that others run is reached out of the run's network by its URL; the run's keys are its own, also the second time.
func TestAStorageThatOthersRun(t *testing.T) {
	t.Parallel()
	listen := needs.Address(t)
	words := strings.Fields(strings.TrimPrefix(storage(t, ""), "--resource="))
	running := exec.Command(words[0], words[1:]...)
	running.Env = append(os.Environ(), "LOCKCHECK_LISTEN="+listen, "LOCKCHECK_DATA="+t.TempDir())
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = running.Process.Kill()
		_ = running.Wait()
	})
	awaitService(t, func(ctx context.Context) error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", listen)
		if err == nil {
			conn.Close()
		}
		return err
	})
	again := "local"
	if docker.Available(context.Background()) == nil {
		again = "docker"
	}
	for _, provider := range []string{"local", again} {
		backend := []string{"run", "--backend=etcd"}
		if provider == "docker" { // in which only clients and resource are to be started
			backend = append(backend, "--attach="+startEtcd(t, "127.0.0.1", "").endpoint)
		}
		// Each is made once, and never again as lockcheck may do: their keys are counted.
		o := outcome{out: t.TempDir()}
		o = finish(t, command(program, slices.Concat(backend, []string{"--provider=" + provider, "--workload=fencing", "--resource=http://" + listen, "--out=" + o.out}, undisturbed)...), o)
		if o.code != 0 {
			t.Errorf("exit %d\n%s", o.code, o.stderr)
		}
		mustPass(t, o, model.ResourceIntegrity)
	}
	reply, err := http.Get("http://" + listen + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	keys := map[string]bool{}
	for lines := json.NewDecoder(reply.Body); ; {
		var line struct{ Key string }
		if lines.Decode(&line) != nil {
			break
		}
		if !strings.HasSuffix(line.Key, "lockcheck-tryout") { // lockcheck's own first read
			keys[line.Key] = true
		}
	}
	if len(keys) != 2 {
		t.Errorf("the runs' keys are %v, want one of each", keys)
	}
}

var storageHarm = []model.Name{model.StaleWrite, model.LostUpdate, model.ResourceLinearizability, model.MutualExclusion}

func judgeStorage(t *testing.T, o outcome, wrong bool, may []model.Name) {
	t.Helper()
	p := o.of(t, model.ResourceIntegrity)
	switch {
	case wrong && (o.code != 1 || p.Verdict != model.Violation || p.Count == 0):
		t.Errorf("exit %d, %s is %s: %s; want violation", o.code, p.Name, p.Verdict, p.Reason)
	case !wrong && (o.code != 0 || p.Verdict != model.Pass):
		t.Errorf("exit %d, %s is %s: %s; want pass", o.code, p.Name, p.Verdict, p.Reason)
	}
	for _, name := range o.violated() {
		if name != model.ResourceIntegrity && !slices.Contains(may, name) && name != model.MutualExclusion {
			t.Errorf("%s is violated", name)
		}
	}
	sameWhenCheckedAgain(t, o)
}

// What a resource of the user's does that no run can be made with is a sentence and an exit code, and nothing is left.
func TestStoragesThatCannotBeTested(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		changes []string
		args    []string
		code    int
		says    []string
	}{
		{"it ends at once", []string{"one = threading.Lock()", "raise SystemExit('the disk is on fire')"}, nil, 69, []string{"it ended before it had answered GET /hello", "exit status 1", "the disk is on fire"}},
		{"it listens elsewhere", []string{"int(port)", "int(port) + 1"}, nil, 69, []string{"it did not answer GET /hello", "connection refused", "its log is resource/resource.log"}},
		{"it compares what there is not", []string{`"compares": "tokens"`, `"compares": "colours"`}, nil, 64, []string{`it compares "colours"`, "nothing, tokens, bases"}},
		{"it answers nonsense", []string{"self.answer(status, json.dumps(answer).encode())", "self.answer(200, b'<html>welcome</html>')"}, nil, 64,
			[]string{"the answer to a first POST /read is none that clients understand (200 OK)", "<html>welcome</html>"}},
		{"it is another service", []string{`if path == "/hello"`, `if path == "/hallo"`}, nil, 64, []string{"GET /hello answered 404"}},
		{"its log is nonsense", []string{`"".join(line + "\n"`, `"".join(line[1:] + "\n"`}, nil, 64, []string{"line 1 of its log (GET /log)", "no JSON object as expected"}},
		{"it ends in the middle", []string{"synchronous = OFF", "synchronous = NORMAL", "    def do_POST(self):\n", "    def do_POST(self):\n        if db.execute(\"SELECT count(*) FROM log\").fetchone()[0] > 4: os._exit(7)\n"}, nil, 69, []string{"ended by itself, so nothing more can be tested", "exit status 7"}},
		{"it takes no idempotency keys", []string{`"idempotency_keys": True`, `"idempotency_keys": False`}, []string{"--workload=jobs", "--execution=idempotent"}, 64,
			[]string{"with --execution=idempotent the record of each slot has an idempotency key", `does not say that it takes them ("idempotency_keys": true`}},
		{"it is in a container", nil, []string{"--provider=docker"}, 64, []string{"--resource is for --provider=local", "neither this machine's programs nor its certificates"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"run", "--backend=etcd", oneServer, "--workload=fencing", "--nemesis=none", "--time-limit=3s", storage(t, "", row.changes...)}
			o := lockcheck(t, program, append(args, row.args...)...)
			if o.code != row.code || strings.Contains(o.stderr, "goroutine") {
				t.Errorf("exit %d, want %d\n%s", o.code, row.code, o.stderr)
			}
			for _, words := range row.says {
				if !strings.Contains(o.stderr, words) {
					t.Errorf("it does not say %q:\n%s", words, o.stderr)
				}
			}
		})
	}
	for args, says := range map[string]string{
		"--resource=./nothing-here":                             "--resource: the program ./nothing-here cannot be run",
		"--resource=fenced --nemesis=kill:resource":             "only a resource that lockcheck started to test it is a target of faults",
		"--resource=fenced --nemesis=clock:resource":            "takes no target resource",
		"--resource=./pages_test.go":                            "permission denied",
		"--resource=http://127.0.0.1:1 --nemesis=kill:resource": "one behind a URL is run by others",
		"--resource=https://127.0.0.1:1 --provider=docker":      "--resource is for --provider=local",
	} {
		o := atOnce(t, program, append([]string{"run", "--backend=etcd"}, strings.Fields(args)...)...)
		if o.code != 64 || !strings.Contains(o.stderr, says) {
			t.Errorf("%s: exit %d, %s; want %q", args, o.code, o.stderr, says)
		}
	}
}

package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

// Every mistake on the command line is answered with what was wrong and what is allowed, and exit code 64; nothing is
// started and nothing written.
func TestMistakesOnTheCommandLine(t *testing.T) {
	cases := map[string]struct {
		args []string
		says []string
	}{
		"no backend":         {[]string{"run"}, []string{"--backend is missing", "etcd"}},
		"unknown command":    {[]string{"walk"}, []string{"unknown command", "walk"}},
		"unknown flag":       {[]string{"run", "--backends=etcd"}, []string{"unknown flag", "--backends", "lockcheck run --help"}},
		"unknown backend":    {[]string{"run", "--backend=floppy"}, []string{"floppy", "etcd"}},
		"unknown client":     {[]string{"run", "--backend=etcd", "--client=none"}, []string{"none", "concurrency"}},
		"no such program":    {[]string{"run", "--backend=etcd", "--client=./no/client"}, []string{"--client", "./no/client"}},
		"unknown nemesis":    {[]string{"run", "--backend=etcd", "--nemesis=comet"}, []string{"comet", "none, pause"}},
		"unknown workload":   {[]string{"run", "--backend=etcd", "--workload=sleep"}, []string{"sleep", "lock, fencing"}},
		"unknown guard":      {[]string{"run", "--backend=etcd", "--guard=dog"}, []string{"dog", "none, before-work, before-write"}},
		"unknown provider":   {[]string{"run", "--backend=etcd", "--provider=cloud"}, []string{"cloud", "local"}},
		"unknown setting":    {[]string{"run", "--backend=etcd", "--set=colour=red"}, []string{"colour", "heartbeat-ms"}},
		"one client":         {[]string{"run", "--backend=etcd", "--clients=1"}, []string{"--clients=1", "2 to 100"}},
		"no key":             {[]string{"run", "--backend=etcd", "--keys=0"}, []string{"--keys=0", "1 to 1000"}},
		"no time":            {[]string{"run", "--backend=etcd", "--time-limit=1ms"}, []string{"--time-limit=1ms", "1s to 24h"}},
		"no lease":           {[]string{"run", "--backend=etcd", "--ttl=0s"}, []string{"--ttl=0s"}},
		"an odd lease":       {[]string{"run", "--backend=etcd", "--ttl=2500ms"}, []string{"2.5s", "3s"}},
		"arguments to run":   {[]string{"run", "etcd"}, []string{"unknown command \"etcd\""}},
		"nothing to check":   {[]string{"check"}, []string{"one run directory"}},
		"no such directory":  {[]string{"check", "no/such/run"}, []string{"no/such/run"}},
		"unknown property":   {[]string{"check", "x", "--property=beauty"}, []string{"beauty", "mutual-exclusion"}},
		"a number that isnt": {[]string{"run", "--backend=etcd", "--clients=many"}, []string{"many", "--clients"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			code, stderr := mistake(t, c.args)
			if code != exitUsage {
				t.Errorf("exit %d, want %d", code, exitUsage)
			}
			for _, say := range c.says {
				if !strings.Contains(stderr, say) {
					t.Errorf("it does not say %q:\n%s", say, stderr)
				}
			}
			if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
				t.Errorf("it left %v (%v)", left, err)
			}
		})
	}
}

// mistake runs a command and returns what it printed on standard error.
func mistake(t *testing.T, args []string) (int, string) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = write
	defer func() { os.Stderr = stderr }()
	code := execute(context.Background(), args)
	write.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(read); err != nil {
		t.Fatal(err)
	}
	return code, text.String()
}

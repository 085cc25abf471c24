package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/reports/rundir"
)

// Every mistake on the command line is answered with what was wrong and what is allowed, and exit code 64; nothing is
// started and nothing written.
func TestMistakesOnTheCommandLine(t *testing.T) {
	cases := map[string]struct {
		args []string
		says []string
	}{
		"no backend":                     {[]string{"run"}, []string{"--backend is missing", "etcd"}},
		"unknown command":                {[]string{"walk"}, []string{"unknown command", "walk", "lockcheck --help"}},
		"unknown flag":                   {[]string{"run", "--backends=etcd"}, []string{"unknown flag", "--backends", "lockcheck run --help"}},
		"unknown backend":                {[]string{"run", "--backend=floppy"}, []string{"floppy", "etcd"}},
		"unknown client":                 {[]string{"run", "--backend=etcd", "--client=none"}, []string{"none", "concurrency"}},
		"no such program":                {[]string{"run", "--backend=etcd", "--client=./no/client"}, []string{"--client", "./no/client"}},
		"unknown nemesis":                {[]string{"run", "--backend=etcd", "--nemesis=comet"}, []string{"comet", "none, pause"}},
		"unknown workload":               {[]string{"run", "--backend=etcd", "--workload=sleep"}, []string{"sleep", "lock, fencing"}},
		"unknown resource":               {[]string{"run", "--backend=etcd", "--resource=foo"}, []string{`--resource: there is no resource "foo"; there are: plain, fenced, cas`}},
		"unknown resource, compared":     {[]string{"compare", "--backends=etcd", "--nemeses=none", "--workloads=lock", "--resource=foo"}, []string{`--resource: there is no resource "foo"; there are: plain, fenced, cas`}},
		"until what does not apply":      {[]string{"run", "--backend=etcd", "--resource=cas", "--until=lost-update,stale-write"}, []string{"with --resource=cas, stale-write does not apply"}},
		"a slot without jobs":            {[]string{"run", "--backend=etcd", "--slot=1s"}, []string{"--slot=1s: only workload jobs understands it, and this is lock: add --workload=jobs, or leave it out"}},
		"an execution without jobs":      {[]string{"plan", "--backend=etcd", "--workload=fencing", "--execution=idempotent"}, []string{"--execution=idempotent: only workload jobs", "this is fencing"}},
		"unknown execution":              {[]string{"run", "--backend=etcd", "--workload=jobs", "--execution=at-last-once"}, []string{`--execution: there is no execution "at-last-once" (did you mean at-least-once?); there are: at-least-once, at-most-once, idempotent`}},
		"a slot that is too short":       {[]string{"run", "--backend=etcd", "--workload=jobs", "--slot=20ms"}, []string{"--slot=20ms: use 50ms to 1h"}},
		"no slot":                        {[]string{"run", "--backend=etcd", "--workload=jobs", "--slot=0s"}, []string{"--slot=0s: use 50ms to 1h"}},
		"a slot that is too long":        {[]string{"run", "--backend=etcd", "--workload=jobs", "--slot=15s"}, []string{"--slot=15s: within --time-limit=30s fewer than two slots would be due: use a shorter slot, or a longer time limit"}},
		"until exposed, a log read late": {[]string{"run", "--backend=etcd", "--resource=redis", "--until=exposed"}, []string{"which writes it handled is not known before"}},
		"until of another workload":      {[]string{"run", "--backend=etcd", "--until=double-execution"}, []string{"without --workload=jobs, double-execution does not apply, so it would never end the run; add --workload=jobs"}},
		"until what a log shows later":   {[]string{"run", "--backend=etcd", "--resource=redis", "--until=stale-write"}, []string{"the log of a resource under test (--resource=redis) is read when the load is over, and stale-write is not known before"}},
		"until what your log shows":      {[]string{"run", "--backend=etcd", "--workload=jobs", "--resource=./mine", "--until=mutual-exclusion,double-execution"}, []string{"double-execution is not known before", "resource-linearizability"}},
		"until what keys rule out":       {[]string{"run", "--backend=etcd", "--workload=jobs", "--execution=idempotent", "--until=stale-write"}, []string{"with --execution=idempotent, stale-write does not apply"}},
		"until what no run can show":     {[]string{"run", "--backend=etcd", "--workload=jobs", "--until=missed-execution"}, []string{"missed-execution is known only at the end of a run"}},
		"until keys that a log shows":    {[]string{"run", "--backend=etcd", "--workload=jobs", "--execution=idempotent", "--resource=redis", "--until=double-execution"}, []string{"the log of a resource under test (--resource=redis) is read when the load is over, and double-execution is not known before"}},
		"a slot in a matrix without":     {[]string{"compare", "--backends=etcd", "--nemeses=none", "--workloads=lock", "--slot=1s"}, []string{"--slot=1s: only workload jobs understands it, and the matrix has none: add jobs to the workloads, or leave it out"}},
		"unknown guard":                  {[]string{"run", "--backend=etcd", "--guard=dog"}, []string{"dog", "none, before-work, before-write"}},
		"unknown provider":               {[]string{"run", "--backend=etcd", "--provider=cloud"}, []string{"cloud", "local"}},
		"unknown setting":                {[]string{"run", "--backend=etcd", "--set=colour=red"}, []string{"colour", "heartbeat-interval"}},
		"one client":                     {[]string{"run", "--backend=etcd", "--clients=1"}, []string{"--clients=1", "2 to 100"}},
		"no key":                         {[]string{"run", "--backend=etcd", "--keys=0"}, []string{"--keys=0", "1 to 1000"}},
		"no time":                        {[]string{"run", "--backend=etcd", "--time-limit=1ms"}, []string{"--time-limit=1ms", "1s to 24h"}},
		"no lease":                       {[]string{"run", "--backend=etcd", "--ttl=0s"}, []string{"--ttl=0s: use 1ms to 24h"}},
		"an endless lease":               {[]string{"plan", "--backend=redis", "--ttl=25h"}, []string{"--ttl=25h0m0s: use 1ms to 24h"}},
		"no server":                      {[]string{"plan", "--backend=redis", "--nodes=-1"}, []string{"--nodes=-1: use 1 to 1000"}},
		"an odd lease":                   {[]string{"run", "--backend=etcd", "--ttl=2500ms"}, []string{"2.5s", "3s"}},
		"an image without containers":    {[]string{"run", "--backend=redis", "--provider=local", "--image=redis:7"}, []string{"--image", "--provider=docker", "--server-bin"}},
		"a program in containers":        {[]string{"run", "--backend=redis", "--provider=docker", "--server-bin=/usr/bin/redis-server"}, []string{"--server-bin", "--provider=local", "--image"}},
		"a jar in containers":            {[]string{"run", "--backend=zookeeper", "--provider=docker", "--server-jar=/opt"}, []string{"--server-jar", "--provider=local", "--image"}},
		"one's own client in containers": {[]string{"run", "--backend=redis", "--provider=docker", "--client=/bin/true"}, []string{"--client", "this machine's programs", "--provider=local"}},
		"an image and a program":         {[]string{"run", "--backend=redis", "--server-bin=/bin/true", "--image=redis:7"}, []string{"--server-bin", "--image", "leave one"}},
		"a jar for redis":                {[]string{"run", "--backend=redis", "--server-jar=/opt"}, []string{"--server-jar", "zookeeper"}},
		"a server that is not there":     {[]string{"run", "--backend=etcd", "--nemesis=kill:node(4)"}, []string{"node(4)", "3 servers"}},
		"a client that is not there":     {[]string{"run", "--backend=etcd", "--nemesis=partition:node(1)-client(2,6)"}, []string{"client(6)", "5 clients"}},
		"no such target":                 {[]string{"run", "--backend=etcd", "--nemesis=pause:leadr"}, []string{"pause:leadr", "leader"}},
		"no such trigger":                {[]string{"plan", "--backend=etcd", "--nemesis=pause:holder@wrok"}, []string{"@wrok", "@work"}},
		"a value of a setting":           {[]string{"plan", "--backend=redis", "--set=appendfsync=sometimes"}, []string{"appendfsync", "everysec"}},
		"a setting without a value":      {[]string{"run", "--backend=redis", "--set=appendfsync"}, []string{"--set", "key=value"}},
		"two servers of three":           {[]string{"plan", "--backend=redis", "--nodes=2"}, []string{"2 Redis servers", "3 to 7"}},
		"a lease under two ticks":        {[]string{"plan", "--backend=zookeeper", "--ttl=100ms"}, []string{"100ms", "nearest it can is 400ms"}},
		"nothing to replay":              {[]string{"run", "--replay=no/such/run"}, []string{"--replay", "no run directory no/such/run"}},
		"a replay of another run":        {[]string{"run", "--replay=x", "--seed=3", "--ttl=1s"}, []string{"leave out", "--seed", "--ttl"}},
		"arguments to run":               {[]string{"run", "etcd"}, []string{"--backend=etcd"}},
		"arguments to list":              {[]string{"list", "etcd"}, []string{"flags only", "etcd", "lockcheck list --help"}},
		"nothing to check":               {[]string{"check"}, []string{"one run directory"}},
		"no such directory":              {[]string{"check", "no/such/run"}, []string{"no/such/run"}},
		"unknown property":               {[]string{"check", "x", "--property=beauty"}, []string{"beauty", "mutual-exclusion"}},
		"a number that isnt":             {[]string{"run", "--backend=etcd", "--clients=many"}, []string{"many", "--clients"}},
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

// A run that was made with a program of one machine can be made again in containers.
func TestReplayElsewhereLeavesOutWhatOnlyTheFirstPlaceHad(t *testing.T) {
	dir := t.TempDir()
	plan := history.Plan{Version: history.FormatVersion, Tokens: history.TokensNone, Command: []string{
		"lockcheck", "run", "--backend=redis", "--client=setnx", "--provider=local", "--server-bin=/opt/redis-server", "--seed=7",
	}}
	text, err := json.Marshal(plan)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, rundir.PlanFile), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for provider, bin := range map[string]string{"": "/opt/redis-server", "local": "/opt/redis-server", "docker": ""} {
		given := pflag.NewFlagSet("run", pflag.ContinueOnError)
		new(runFlags).bind(given)
		given.String("replay", "", "")
		args := []string{"--replay=" + dir}
		if provider != "" {
			args = append(args, "--provider="+provider)
		}
		if err := given.Parse(args); err != nil {
			t.Fatal(err)
		}
		f, err := replayed(dir, given)
		if err == nil {
			err = f.Check()
		}
		if err != nil || f.Where.ServerPaths.Bin != bin || f.Seed != 7 {
			t.Errorf("provider %q: %v, --server-bin=%s, seed %d", provider, err, f.Where.ServerPaths.Bin, f.Seed)
		}
	}
}

// What a new user tries first ends well, and without starting anything.
func TestFirstSteps(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{}, {"--help"}, {"--version"}, {"run", "--help"}, {"list"}, {"list", "--json"}, {"plan", "--backend=redlock", "--nemesis=pause"}} {
		stdout := os.Stdout
		null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout = null
		code, stderr := mistake(t, args)
		os.Stdout = stdout
		null.Close()
		if code != exitPass || stderr != "" {
			t.Errorf("lockcheck %s: exit %d\n%s", strings.Join(args, " "), code, stderr)
		}
	}
}

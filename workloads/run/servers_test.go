package run

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/nemesis"
)

// place is a site that can only say whether its hosts have networks of their own.
type place struct {
	clusters.Site
	isolated bool
}

func (p place) Isolated() (bool, string) { return p.isolated, "run as root" }

// Running out of time to get ready is no mistake of lockcheck's; other errors, and an interruption, stay what they are.
func TestRunningOutOfTimeToGetReady(t *testing.T) {
	live := t.Context()
	ended, end := context.WithCancel(live)
	end()
	wrong := errors.New("starting client c1")
	cases := []struct {
		name         string
		ctx, bounded context.Context
		slow         bool
	}{
		{"in time", live, live, false},
		{"out of time", live, ended, true},
		{"interrupted", ended, ended, false},
	}
	for _, c := range cases {
		err := inTime(c.ctx, c.bounded, time.Second, wrong)
		if !errors.Is(err, wrong) || errors.Is(err, clusters.ErrUnavailable) != c.slow {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestANemesisThatNeedsANetworkIsRefusedWithoutOne(t *testing.T) {
	cases := []struct {
		name, nemesis     string
		isolated, refused bool
		log               string
	}{
		{"needs it and has it", "partition", true, false, ""},
		{"needs it and has none", "partition", false, true, ""},
		{"would drop packets of the machine", "loss", false, true, ""},
		{"would hold packets of the machine", "delay", false, true, ""},
		{"would hold the machine to a rate", "rate", false, true, ""},
		{"does without", "pause", false, false, "all hosts share the loopback network: run as root\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var log strings.Builder
			disturb, err := nemesis.New(c.nemesis, nemesis.Conditions{TTL: time.Second, Limit: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			r := New(Setup{Plan: history.Plan{Nemesis: c.nemesis}, Nemesis: disturb}, nil, Output{Log: &log})
			r.site = place{isolated: c.isolated}
			err = r.checkNetwork()
			if (err != nil) != c.refused || log.String() != c.log {
				t.Errorf("refused: %v, log %q", err, log.String())
			}
			if c.refused && (!errors.Is(err, clusters.ErrUnavailable) || !strings.Contains(err.Error(), c.nemesis) || !strings.Contains(err.Error(), "run as root")) {
				t.Errorf("%v: want the nemesis by name, and the way out", err)
			}
		})
	}
}

func TestTheResourceIsToldWhatToCompare(t *testing.T) {
	for want, plan := range map[string]history.Plan{
		"--kind plain":                   {Resource: history.ResourcePlain},
		"--kind fenced":                  {Resource: history.ResourceFenced, Fenced: true},
		"--kind fenced --without-tokens": {Resource: history.ResourceFenced},
		"--kind cas":                     {Resource: history.ResourceCAS},
		"--kind plain --keyed":           {Resource: history.ResourcePlain, SlotMS: 500, Execution: history.Idempotent},
		"--kind fenced --keyed":          {Resource: history.ResourceFenced, Fenced: true, SlotMS: 500, Execution: history.Idempotent},
	} {
		if got := strings.Join(resourceKind(plan), " "); got != want {
			t.Errorf("%s, fenced %v: %q, want %q", plan.Resource, plan.Fenced, got, want)
		}
	}
}

// slowToSay is a cluster whose servers say their version only when they were asked so many times.
type slowToSay struct {
	clusters.Cluster
	silent int
}

func (c *slowToSay) Versions(context.Context) (map[string]string, error) {
	if c.silent--; c.silent >= 0 {
		return nil, errors.New("no answer in time")
	}
	return map[string]string{"server": "1.2"}, nil
}

// Servers that are up and busy are no reason to give a run up.
func TestServersAreAskedForTheirVersionUntilTheyAnswer(t *testing.T) {
	r := &Run{cluster: &slowToSay{silent: 2}, plan: history.Plan{}}
	if err := r.askVersions(t.Context()); err != nil || r.observed.Versions["server"] != "1.2" {
		t.Errorf("%v, %v", r.observed.Versions, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	r = &Run{cluster: &slowToSay{silent: 2}, plan: history.Plan{}}
	if err := r.askVersions(ended); err == nil || !strings.Contains(err.Error(), "asking the servers for their version: no answer in time") {
		t.Errorf("out of time: %v", err)
	}
}

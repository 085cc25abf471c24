package nemesis

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"lockcheck/checker/history"
)

// A server that is being killed when the run ends is started again: the final phase would find it missing.
func TestAKillThatTheEndOfTheRunMeetsIsHealed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	node := &slowToEnd{victim: victim{name: "n1"}, sent: make(chan struct{})}
	go func() {
		<-node.sent
		cancel()
	}()
	round := drawSchedule(mustParse(t, "kill:one,1h"), Conditions{Seed: 1, TTL: time.Second, Limit: time.Millisecond}).rounds[0]
	if err := round.run(ctx, &scene{nodes: []Target{node}}, time.Second); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(node.did, []string{"kill", "restart empty=false"}) {
		t.Errorf("did %q, want a kill and a restart", node.did)
	}
}

// stuck never goes on again.
type stuck struct{ victim }

func (s *stuck) Resume(context.Context) error { return errors.New("a thread is still stopped") }

// A run in which a fault could not be healed is not gone on with until its time is up.
func TestAFaultThatCannotBeHealedEndsTheSchedule(t *testing.T) {
	s := &scene{clients: []Target{&stuck{victim{name: "c1"}}}}
	nemesis := drawSchedule(mustParse(t, "pause:client,1ms"), Conditions{Seed: 1, TTL: time.Second, Limit: time.Hour})
	nemesis.rounds[0].Gap = 0
	err := nemesis.Run(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "healing pause of c1") {
		t.Errorf("Run: %v, want the fault that could not be healed", err)
	}
	if want := "heal fail pause c1 h9"; len(s.events) != 4 || s.events[3] != want {
		t.Errorf("recorded %q, want one fault, and at last %q", s.events, want)
	}
}

// slowToPause is paused only once its caller has given up.
type slowToPause struct {
	victim
	asked chan struct{}
}

func (s *slowToPause) Pause(ctx context.Context) error {
	close(s.asked)
	<-ctx.Done()
	return errors.New("no answer")
}

// failures are the words of the faults that failed.
type failures struct {
	*scene
	words []string
}

func (f *failures) Record(e history.Event) int64 {
	if e.Type == history.Fail {
		f.words = append(f.words, e.Error)
	}
	return f.scene.Record(e)
}

// What was asked last is not to blame for a fault that the end of the load overtook.
func TestAFaultThatTheEndOfTheLoadOvertakesSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := &slowToPause{victim: victim{name: "c1"}, asked: make(chan struct{})}
	go func() {
		<-client.asked
		cancel()
	}()
	env := &failures{scene: &scene{clients: []Target{client}}}
	round := drawSchedule(mustParse(t, "pause:client(1),1h"), Conditions{Seed: 1, TTL: time.Second, Limit: time.Millisecond}).rounds[0]
	if err := round.run(ctx, env, time.Second); err != nil {
		t.Fatal(err)
	}
	if want := []string{"the load ended before the fault was confirmed: no answer"}; !slices.Equal(env.words, want) {
		t.Errorf("failed: %q, want %q", env.words, want)
	}
}

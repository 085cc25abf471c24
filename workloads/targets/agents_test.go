package targets

import (
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/nemesis"
	"lockcheck/nemesis/agent"
)

// What an agent is asked whether it can, before anything else, is the longest delay of the schedule: some kernels have a bound.
func TestTheLongestDelayIsTried(t *testing.T) {
	drawn, err := nemesis.New("pause:one,delay:client,300ms±100ms,delay:client(1),7s±500ms,delay:client,0.1ttl", nemesis.Conditions{Seed: 1, TTL: 2 * time.Second, Limit: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for want, schedule := range map[time.Duration][]history.Round{0: nil, 7500 * time.Millisecond: drawn.Schedule()} {
		if asked := tries(schedule)[history.CapabilityDelay]; asked.request != agent.DelayTry || asked.args != (agent.TryDelay{Longest: want}) {
			t.Errorf("asked for %+v, want %v", asked, want)
		}
	}
}

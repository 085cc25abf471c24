package nemesis

import (
	"fmt"
	"time"
)

// checkTimes refuses faults that cannot be seen, or cannot come to all their targets, while the load lasts: every run of them would have
// tested nothing.
func (s Spec) checkTimes(conditions Conditions) error {
	if conditions.Limit == 0 || conditions.TTL == 0 {
		return nil
	}
	for _, mix := range s {
		for _, f := range mix {
			if f.fromDefault {
				continue
			}
			if held := f.Delay.least(conditions.TTL) - f.Spread.most(conditions.TTL); held >= conditions.Limit {
				return fmt.Errorf("%q: a packet would be held for at least %v, and the load is over after %v, before one was seen to come late: take a shorter delay, or a longer --time-limit",
					f.String(), held, conditions.Limit)
			}
			if n := f.Target.meaning().Size(conditions.Servers); f.comesInTurn() && time.Duration(n-1)*f.For.least(conditions.TTL) >= conditions.Limit {
				return fmt.Errorf("%q: with %d servers in turn, each away for at least %v, the last one's turn would come after the load is over (%v): take a shorter time, or a longer --time-limit",
					f.String(), n, f.For.least(conditions.TTL), conditions.Limit)
			}
		}
	}
	return nil
}

// least and most are the bounds of what can be drawn.
func (r Range) least(ttl time.Duration) time.Duration {
	return time.Duration(r.Low * float64(r.unit(ttl)))
}
func (r Range) most(ttl time.Duration) time.Duration {
	return time.Duration(r.High * float64(r.unit(ttl)))
}

func (r Range) unit(ttl time.Duration) time.Duration {
	if r.TTL {
		return ttl
	}
	return time.Second
}

package history

import "testing"

const second = int64(1e9)

// step is a step of the machine's clock, seen at a second.
func step(at, by int64) Event {
	return Event{TimeNS: at * second, FromNS: at * second, Process: HarnessProcess, Type: Info, F: ClockStep, SkewNS: by * second}
}

// skewFault is a clock fault of a target from one second to another.
func skewFault(op int64, target string, from, to, by int64, clock Clock) []Event {
	e := Event{TimeNS: from * second, Process: NemesisProcess, Type: OK, F: ClockFault, Op: op, Target: target, SkewNS: by * second, Clock: clock}
	healed := e
	healed.TimeNS, healed.Heal = to*second, true
	return []Event{e, healed}
}

func acknowledged(at, ttl int64) Event {
	return Event{TimeNS: at * second, Process: "c1", Client: "c1", Type: OK, F: Renew, Session: "s", TTLNS: ttl * second}
}

func TestBoundOfAWait(t *testing.T) {
	join := func(all ...[]Event) (events []Event) {
		for _, some := range all {
			events = append(events, some...)
		}
		return events
	}
	for name, test := range map[string]struct {
		events   []Event
		from, to int64 // the wait
		ttl      int64
		back     int64
		target   string
	}{
		"nothing but the plan":                            {nil, 50, 60, 2, 0, ""},
		"a lease no longer than the plan's":               {[]Event{acknowledged(49, 2)}, 50, 60, 2, 0, ""},
		"a longer lease that may still run":               {[]Event{acknowledged(45, 10)}, 50, 60, 10, 0, ""},
		"a longer lease that had run out":                 {[]Event{acknowledged(40, 10)}, 50, 60, 2, 0, ""},
		"a longer lease acknowledged while it waits":      {[]Event{acknowledged(55, 10)}, 50, 60, 10, 0, ""},
		"a longer lease acknowledged later":               {[]Event{acknowledged(65, 10)}, 50, 60, 2, 0, ""},
		"a lease on a clock that was set back":            {[]Event{acknowledged(30, 10), step(35, -15)}, 50, 60, 10, 0, ""},
		"a lease given after the clock was set back":      {[]Event{step(25, -15), acknowledged(30, 10)}, 50, 60, 2, 0, ""},
		"the clock set back before":                       {[]Event{step(40, -30)}, 50, 60, 2, 20, ""},
		"the clock set back long before":                  {[]Event{step(10, -30)}, 50, 60, 2, 0, ""},
		"the clock set back during the wait":              {[]Event{step(55, -30)}, 50, 60, 2, 30, ""},
		"the clock set forward and back":                  {[]Event{step(30, 40), step(40, -40)}, 50, 60, 2, 30, ""},
		"the clock set back and forward":                  {[]Event{step(30, -40), step(40, 40)}, 50, 60, 2, 0, ""},
		"a server's clock healed":                         {skewFault(1, "n1", 30, 40, 90, ClockWall), 50, 60, 2, 80, "n1"},
		"a server's clock, not said which":                {skewFault(1, "n1", 30, 40, 90, ""), 50, 60, 2, 80, "n1"},
		"a server's monotonic clock":                      {skewFault(1, "n1", 30, 40, 90, ClockMonotonic), 50, 60, 2, 0, ""},
		"a server's clock that was behind":                {skewFault(1, "n1", 30, 40, -90, ClockWall), 50, 60, 2, 0, ""},
		"a client's clock":                                {skewFault(1, "c1", 30, 40, 90, ClockWall), 50, 60, 2, 0, ""},
		"a server's clock that is not healed yet":         {skewFault(1, "n1", 30, 70, 90, ClockWall), 50, 60, 2, 0, ""},
		"a server's clock healed during the wait":         {skewFault(1, "n1", 30, 55, 90, ClockWall), 50, 60, 2, 90, "n1"},
		"of two servers' clocks the one furthest behind":  {join(skewFault(1, "n1", 30, 40, 20, ClockWall), skewFault(2, "n2", 41, 45, 30, ClockWall)), 50, 60, 2, 25, "n2"},
		"one server's clock twice":                        {join(skewFault(1, "n1", 20, 30, 60, ClockWall), skewFault(2, "n1", 35, 40, 20, ClockWall)), 50, 60, 2, 40, "n1"},
		"a server's clock, and then the machine's":        {append(skewFault(1, "n1", 30, 40, 20, ClockWall), step(45, -10)), 50, 60, 2, 20, "n1"},
		"the machine's clock, while a server's was ahead": {append(skewFault(1, "n1", 30, 70, 90, ClockWall), step(45, -10)), 50, 60, 2, 5, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := NewBounds(Plan{EffectiveMS: 2000, ElectionMS: 5000})
			for i := range test.events {
				b.Take(&test.events[i])
			}
			got := b.Between(test.from*second, test.to*second, func(name string) bool { return name == "c1" })
			want := max(30, 5*(test.ttl+5)) + test.back
			if got.TTLNS != test.ttl*second || got.SetBack.ByNS != test.back*second || got.SetBack.Target != test.target || got.NS() != want*second {
				t.Errorf("%+v: %d s; want a lease of %d s, %q set back by %d s: %d s", got, got.NS()/second, test.ttl, test.target, test.back, want)
			}
		})
	}
}

// Consul counts a lease for as long again after its end, and then grants its lock to no client for a while.
func TestBoundOfAServiceThatIsSlowToGrantALockAgain(t *testing.T) {
	for name, test := range map[string]struct {
		plan  Plan
		bound int64
		words string
	}{
		"nothing of the kind": {Plan{EffectiveMS: 2000, ElectionMS: 5000}, 35, "5 × (lease 2.00 s + election 5.00 s), at least 30 s"},
		"a grace":             {Plan{EffectiveMS: 2000, GraceMS: 2000, ElectionMS: 5000}, 45, "5 × (lease 2.00 s + grace 2.00 s + election 5.00 s), at least 30 s"},
		"a lock delay": {Plan{EffectiveMS: 2000, GraceMS: 2000, ElectionMS: 5000, LockDelayMS: 15000}, 60,
			"5 × (lease 2.00 s + grace 2.00 s + election 5.00 s), at least 30 s, and 15.0 s of lock delay"},
		"a lock delay beside a short lease": {Plan{EffectiveMS: 1000, LockDelayMS: 60000}, 90, "5 × lease 1.00 s, at least 30 s, and 60.0 s of lock delay"},
	} {
		t.Run(name, func(t *testing.T) {
			got := NewBounds(test.plan).Between(50*second, 60*second, func(string) bool { return false })
			if got.NS() != test.bound*second || got.String() != test.words {
				t.Errorf("%d s, %q; want %d s, %q", got.NS()/second, got, test.bound, test.words)
			}
		})
	}
	graced := NewBounds(Plan{EffectiveMS: 2000, GraceMS: 2000})
	longer := acknowledged(42, 7)
	graced.Take(&longer)
	if got := graced.Between(50*second, 60*second, func(string) bool { return false }); got.TTLNS != 7*second {
		t.Errorf("a lease of 7 s that ended 1 s before, within its grace of 2 s: %+v", got)
	}
}

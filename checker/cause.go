package checker

import (
	"fmt"
	"strings"
	"time"

	"lockcheck/checker/history"
)

// unexplained is the cause of what no fault explains.
var unexplained = Cause{Kind: "unexplained", Text: "no fault explains it"}

// faultWords is how faults are spoken of; one that is not in the table is called by its name.
var faultWords = map[history.F]struct{ noun, began, over string }{
	pauseFault:  {"pause", "paused (SIGSTOP)", "resumed"},
	"partition": {"partition", "cut off", "connected again"},
	killFault:   {"kill", "killed (SIGKILL)", "replaced"},
	"clock":     {"clock skew", "given a skewed clock", "given its true clock again"},
	"failover":  {"failover", "told to fail over", "settled after the failover"},
	"loss":      {"packet loss", "losing packets", "rid of packet loss"},
}

func (f *Fault) noun() string {
	if w, ok := faultWords[f.Name]; ok {
		return w.noun
	}
	return string(f.Name)
}

func (f *Fault) began() string {
	if w, ok := faultWords[f.Name]; ok {
		return w.began
	}
	return "hit by " + string(f.Name)
}

func (f *Fault) over() string {
	if w, ok := faultWords[f.Name]; ok {
		return w.over
	}
	return "rid of " + string(f.Name)
}

// cause finds the fault that explains what came to be complete at atNS between an older hold and a younger one (nil if
// there is none). A fault of the old holder comes first, and of several the one that outlived its lease, then the
// longest; then a fault of the younger holder, of a server, of anybody else. What only overlaps in time "coincides".
func (j *judge) cause(old, young *Hold, atNS int64) Cause {
	var best *Fault
	bestRank, bestNS := 0, int64(-1)
	for _, f := range j.m.Faults {
		from, to := max(f.BeginNS, old.startNS()), min(f.goneNS(j.m.EndNS), atNS)
		if f.EffectiveNS == 0 || from > to {
			continue
		}
		rank := j.rank(f, old, young)
		if rank > bestRank || rank == bestRank && to-from > bestNS {
			best, bestRank, bestNS = f, rank, to-from
		}
	}
	if best == nil {
		return unexplained
	}
	c := Cause{Fault: best.Op, Kind: best.noun() + " of " + j.roleOf(best, old, young)}
	if best.Target == old.Client {
		c.Text = j.holderCause(best, old, young, atNS)
	} else {
		c.Text = fmt.Sprintf("it coincides with a %s of %s (%s) for %s", best.noun(), best.Target, j.roleOf(best, old, young), dur(best.overNS(j.m.EndNS)-best.EffectiveNS))
	}
	return c
}

func (j *judge) rank(f *Fault, old, young *Hold) int {
	switch {
	case f.Target == old.Client:
		if j.m.outlivesLease(f, old) {
			return 5
		}
		return 4
	case young != nil && f.Target == young.Client:
		return 3
	case j.m.Clients[f.Target] == nil:
		return 2
	}
	return 1
}

func (j *judge) roleOf(f *Fault, old, young *Hold) string {
	switch {
	case f.Target == old.Client:
		return "holder"
	case young != nil && f.Target == young.Client:
		return "next holder"
	case j.m.Clients[f.Target] != nil:
		return "another client"
	case f.Role != "":
		return f.Role
	}
	return "server"
}

// holderCause says how a fault of the old holder led there, as far as the order of things proves it.
func (j *judge) holderCause(f *Fault, old, young *Hold, atNS int64) string {
	over := f.overNS(j.m.EndNS)
	var b strings.Builder
	earliest, _ := j.m.leaseAt(old, f.EffectiveNS)
	if j.m.outlivesLease(f, old) {
		fmt.Fprintf(&b, "%s was %s for %s with %s of its lease left, which ran out meanwhile", old.Client, f.began(), dur(over-f.EffectiveNS), dur(max(earliest-f.EffectiveNS, 0)))
	} else {
		fmt.Fprintf(&b, "it coincides with a %s of %s for %s", f.noun(), old.Client, dur(over-f.EffectiveNS))
		if earliest > f.EffectiveNS {
			fmt.Fprintf(&b, ", which had %s of its lease left", dur(earliest-f.EffectiveNS))
		}
	}
	if young != nil && young.DoneNS > f.BeginNS && young.DoneNS < over {
		fmt.Fprintf(&b, "; %s was granted %s%s before it was over", young.Client, young.Key, withToken(young))
	}
	if old.LostNS != 0 && old.LostNS <= atNS {
		fmt.Fprintf(&b, "; %s had been told %s before", old.Client, dur(atNS-old.LostNS))
	} else {
		fmt.Fprintf(&b, "; %s had not been told that the lock was lost", old.Client)
	}
	return b.String()
}

// dur and clock print durations and moments of the run for people.
func dur(ns int64) string {
	switch d := time.Duration(ns); {
	case d < 0:
		return "0 s"
	case d < time.Millisecond:
		return fmt.Sprintf("%.3f ms", float64(d)/1e6)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", float64(d)/1e6)
	default:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
}

func clock(ns int64) string { return fmt.Sprintf("%.3f s", float64(ns)/1e9) }

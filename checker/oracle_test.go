package checker

import (
	"fmt"

	"lockcheck/checker/history"
)

// mutualExclusion is J1: pairs of holds by different clients that overlap, strictly.
func (o *oracle) mutualExclusion() map[string]bool {
	found := map[string]bool{}
	believed := make([]int64, len(o.holds))
	for i, h := range o.holds {
		believed[i] = o.believed(h)
	}
	for i, a := range o.holds {
		for j, b := range o.holds[:i] {
			if a.key == b.key && a.client != b.client && believed[i] != 0 && believed[j] != 0 &&
				max(a.done, b.done) < min(believed[i], believed[j]) {
				found[pairName(a.id, b.id)] = true
			}
		}
	}
	return found
}

func pairName(a, b string) string { return min(a, b) + "+" + max(a, b) }

// tokenMonotonicity is J2. A session that asks again before it has seen its first grant go may be answered with the same
// record, and its token.
func (o *oracle) tokenMonotonicity() map[string]bool {
	found := map[string]bool{}
	if len(o.disordered()) > 0 {
		found["violated"] = true
	}
	return found
}

// disordered are the keys whose tokens were seen not to grow.
func (o *oracle) disordered() map[string]bool {
	found := map[string]bool{}
	for _, f := range o.holds {
		for _, g := range o.holds {
			if f == g || f.key != g.key || f.outcome != history.OK || g.outcome != history.OK || f.token == "" || g.token == "" {
				continue
			}
			equal := !higher(f.token, g.token) && !higher(g.token, f.token)
			switch {
			case equal && o.oneRecord(f, g):
			case equal, f.before(g) && higher(f.token, g.token):
				found[f.key] = true
			}
		}
	}
	return found
}

func (o *oracle) oneRecord(f, g *fact) bool {
	if f.session == "" || f.session != g.session {
		return false
	}
	if f.done > g.done || f.done == g.done && number(f.id[1:]) > number(g.id[1:]) {
		f, g = g, f
	}
	for _, a := range f.attempts {
		if gone := a.notOwned() || a.f == history.Release && (a.acted() || a.outcome == history.OK); gone && a.done <= g.start() {
			return false
		}
	}
	return true
}

// staleWrite is J3: writes by (a) and (b), and pairs of holds that interleave by (c), for each write all of them.
func (o *oracle) staleWrite() (proven map[int64]bool, either map[int64][]string) {
	proven, either = map[int64]bool{}, map[int64][]string{}
	disordered := o.disordered()
	for n, w := range o.requests {
		if w.Kind != history.KindWrite || w.Outcome != history.Applied {
			continue
		}
		h := o.hold(w.Hold)
		ordered := o.plan.Tokens == history.TokensOrdered && !disordered[w.Key]
		var log []history.Request // of this key, before w
		for _, q := range o.requests[:n] {
			if q.Key == w.Key && q.Outcome == history.Applied {
				log = append(log, q)
			}
		}
		for _, q := range log {
			g := o.hold(q.Hold)
			if g != h && (h.before(g) || ordered && higher(g.token, h.token) && !g.before(h)) {
				proven[w.Seq] = true
			}
		}
		if proven[w.Seq] {
			continue
		}
		for i, first := range log {
			for _, between := range log[i+1:] {
				g := o.hold(between.Hold)
				if first.Hold != h.id || between.Kind != history.KindWrite || g == h {
					continue
				}
				byToken := ordered && (higher(g.token, h.token) || higher(h.token, g.token))
				if !g.before(h) && !h.before(g) && !byToken {
					either[w.Seq] = append(either[w.Seq], pairName(g.id, h.id))
				}
			}
		}
	}
	return proven, either
}

// lostUpdate is J4: values of acknowledged writes after the base of an applied write that is not built on the current
// value. A base that was never applied stands for the one it was built on itself.
func (o *oracle) lostUpdate() map[string]bool {
	found := map[string]bool{}
	bases, acknowledged := map[string]string{}, map[string]bool{}
	for _, h := range o.holds {
		for _, a := range h.accesses {
			if a.f == history.Write && a.outcome == history.OK {
				acknowledged[a.value] = true
			}
		}
	}
	for _, e := range o.events {
		if e.F == history.Write && e.Type == history.Invoke {
			bases[e.Value] = e.Base
		}
	}
	for n, w := range o.requests {
		if w.Kind != history.KindWrite || w.Outcome != history.Applied {
			continue
		}
		var values []string // applied to this key before w
		for _, q := range o.requests[:n] {
			if q.Key == w.Key && q.Kind == history.KindWrite && q.Outcome == history.Applied {
				values = append(values, q.Value)
			}
		}
		base, since := w.Base, -1
		for since < 0 {
			for i, v := range values {
				if v == base {
					since = i + 1
				}
			}
			if base == "" {
				since = max(since, 0)
			}
			base = bases[base]
		}
		for _, v := range values[since:] {
			if acknowledged[v] {
				found[v] = true
			}
		}
	}
	return found
}

// premature is J5: grants lost too early, by the earliest evidence, and whether somebody's clean-up was pending then.
func (o *oracle) premature() map[string]bool {
	found := map[string]bool{}
	disordered := o.disordered()
	for _, h := range o.holds {
		if h.outcome != history.OK {
			continue
		}
		ordered := o.plan.Tokens == history.TokensOrdered && !disordered[h.key]
		at := int64(never)
		// Another client's grant, certainly made after this one.
		for _, g := range o.holds {
			if g.key != h.key || g.client == h.client || g.outcome != history.OK || g.done >= o.protected(h) {
				continue
			}
			if h.before(g) || ordered && higher(g.token, h.token) && g.done > h.done {
				at = min(at, g.done)
			}
		}
		// The service's own word. After the loss was told, what is answered may come from the tidying up.
		own := func(except int, ns int64) int64 {
			until := min(o.promised(h), o.stopped(h, except))
			if l := o.lost(h); l != 0 && ns > l {
				until = min(until, max(o.believed(h), h.done))
			}
			return until
		}
		if e := o.ended(h); e > h.done && e < own(-1, e) {
			at = min(at, e)
		}
		for i, a := range h.attempts {
			if until := own(i, a.done); a.notOwned() && a.invoke >= h.done && until > h.done && a.done < until {
				at = min(at, a.done)
			}
		}
		if at == never {
			continue
		}
		kind := string(EarlyExpiry)
		if o.cleanUpPending(h, at) {
			kind = string(ReleaseByOwner)
		}
		found[h.id+" "+kind] = true
	}
	return found
}

// cleanUpPending tells whether a release, the end of an acquire that came to nothing, or the closing of another client
// was under way between h's acquire and a moment.
func (o *oracle) cleanUpPending(h *fact, at int64) bool {
	pending := func(from, to int64) bool { return from <= at && to >= h.done }
	for _, g := range o.holds {
		if g == h || g.key != h.key {
			continue
		}
		for _, a := range g.attempts {
			to := int64(never)
			if a.answered() {
				to = a.done
			}
			// One that does not say it removed its own record may have removed that of a grant still to be read.
			if a.f == history.Release && (pending(a.invoke, to) || !a.acted() && a.invoke <= at && to >= h.start()) {
				return true
			}
		}
		switch exit := o.exits(g.client); {
		case g.outcome == history.Fail && g.code != history.CodeRefused && (g.code != history.CodeBusy || !o.plan.TryAtomic):
			if pending(g.start(), g.done) {
				return true
			}
		case g.outcome == history.Info:
			to := int64(never)
			if exit != 0 {
				to = exit
			}
			if pending(g.start(), to) {
				return true
			}
		}
	}
	for _, e := range o.events {
		if e.F == history.Exit && e.Type == history.Invoke && e.Client != h.client {
			to := int64(never)
			if x := o.exits(e.Client); x != 0 {
				to = x
			}
			if pending(e.TimeNS, to) {
				return true
			}
		}
	}
	return false
}

func (o *oracle) String() (text string) {
	for _, e := range o.events {
		text += fmt.Sprintln(string(history.AppendEvent(nil, &e)))
	}
	for _, q := range o.requests {
		text += fmt.Sprintln(string(history.AppendRequest(nil, &q)))
	}
	return text
}

// Package explain says what led to a finding: its cause, its story in numbered lines, and the part of a run that proves it (a witness).
// The rules that comments cite by number are in checker/RULES.md.
package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// causeOf looks for what led to the loss of an older hold, which a younger one (nil if there is none) superseded. The
// harm was complete at atNS.
type causeOf struct {
	m          *model.Model
	old, young *model.Hold
	atNS       int64
	harmNS     int64 // when what the finding tells of was complete: its words say what the holder knew by then
	// lossNS is when the lock had been lost at the latest, as far as that is known.
	lossNS int64
	// early: that was before the acknowledged lease could have run out, so nothing that kept the holder from renewing it
	// or from learning of its end explains the loss.
	early bool
}

// suspect is a fault that may explain a finding, and how likely it is to.
type suspect struct {
	*model.Fault
	rank    rank
	overNS  int64 // how long it lasted beside the hold
	before  bool  // it was over before the hold was asked for
	settled int64 // how long before
}

// rank says what a fault has to do with a loss; the greatest explains it best.
type rank int

const (
	noSuspect   rank = iota
	bystander        // another client, or a clock that no lease is counted by
	partDelayed      // a delay of the holder that is not known to have held back all that it sent all servers
	nextHolder
	someServer
	holderClock // of a client: some libraries compute the end of a lease on it
	leadingServer
	leaseClock // of a server: leases are counted by it
	ofHolder
	outlivedLease // it kept the holder until its lease had run out
)

// LossCause says what led to what came to be complete at atNS between an older hold and a younger one (nil if there is none):
// the release that is proven to have removed the older one's record before that, else what the faults explain.
func LossCause(m *model.Model, old, young *model.Hold, atNS int64) model.Cause {
	lossNS := atNS
	if young != nil {
		lossNS = min(atNS, young.DoneNS)
	}
	if p := m.RemovedBefore(old, lossNS); p != nil {
		return removalCause(m, p)
	}
	c := faultCause(m, old, young, atNS)
	if c.Unexplained() {
		return OrRelease(c, m.PerhapsRemovedBefore(old, lossNS))
	}
	return c
}

// EarlyLossCause is the same for a loss that is proven to have come before the lease's end (rule J5): a release of its own that was answered
// "not owned" did nothing.
func EarlyLossCause(m *model.Model, old, young *model.Hold, atNS int64) model.Cause {
	if p := m.RemovedBefore(old, atNS); p != nil {
		return removalCause(m, p)
	}
	c := newCause(m, old, takenBy(m, old, young, atNS), atNS)
	c.early = true
	return c.fault()
}

// faultCause finds the fault that explains what came to be complete at atNS between an older hold and a younger one (nil if
// there is none). What only coincides is said to coincide, and where several remain all are named. A fault that was over
// before the hold was asked for counts if it was over shortly before: a server that came back without its data forgets
// a lock whenever that is next asked for.
//
// All findings of one loss have its cause: what led to the first grant of another client. What kept back a write that came after it is added.
// Where the holder had given the lock back nothing was lost, and all that is to be explained is what came late.
func faultCause(m *model.Model, old, young *model.Hold, atNS int64) model.Cause {
	first := takenBy(m, old, young, atNS)
	if first == nil || first.DoneNS >= atNS || old.HandedOnBefore(first) {
		c := newCause(m, old, cmp.Or(first, young), atNS)
		return c.fault()
	}
	c := newCause(m, old, first, first.DoneNS)
	c.harmNS = atNS
	loss := c.fault()
	after := newCause(m, old, young, atNS)
	if loss.Unexplained() {
		return after.fault()
	}
	if f := after.carrier(); f != nil && f.Op != loss.Fault {
		loss.Text += "; what came late was sent under " + faultNamed(f, after.roleOf(f))
		if !slices.Contains(loss.Others, f.Op) {
			loss.Others = append(loss.Others, f.Op)
		}
	}
	return loss
}

// takenBy is the first grant of another client that was certainly made after a hold's own, or is proven to have taken its lock, of those read
// by a moment; young, which superseded it, if there is none.
func takenBy(m *model.Model, old, young *model.Hold, atNS int64) *model.Hold {
	if young != nil {
		atNS = min(atNS, young.DoneNS-1)
	}
	k := m.KeyNamed(old.Key)
	from := model.FirstAfter(k.Grants, old.DoneNS, func(g *model.Hold) int64 { return g.DoneNS })
	for _, g := range k.Grants[from:] {
		if g.DoneNS > atNS {
			break
		}
		if g.Client != old.Client && (m.CertainlyLater(k, old, g) || m.LostTo(old, g)) {
			return g
		}
	}
	return young
}

// carrier is the fault of the old holder under which it sent what came after the loss; nil if there is none.
func (c *causeOf) carrier() (last *model.Fault) {
	for _, f := range c.m.Faults {
		if f.Target == c.old.Client && f.EffectiveNS != 0 && f.Name != history.ClockFault && f.BeginNS <= c.atNS && f.GoneNS(c.m.EndNS) > c.sentNS() {
			last = f
		}
	}
	return last
}

// sentNS is from when on the old holder may have sent what was complete at atNS.
func (c *causeOf) sentNS() (ns int64) {
	ns = c.lossNS
	for _, a := range c.old.Accesses {
		if a.InvokeNS <= c.atNS {
			ns = a.InvokeNS
		}
	}
	return ns
}

func newCause(m *model.Model, old, young *model.Hold, atNS int64) causeOf {
	c := causeOf{m: m, old: old, young: young, atNS: atNS, harmNS: atNS, lossNS: atNS}
	if young != nil {
		c.lossNS = min(atNS, young.DoneNS)
	}
	earliest, _ := m.LeaseAt(old, c.lossNS)
	c.early = earliest > c.lossNS && old.GivenBackNS() > c.lossNS
	return c
}

func (c *causeOf) fault() model.Cause {
	suspects := c.suspects()
	if len(suspects) == 0 {
		return c.clockStep()
	}
	best := suspects[0]
	cause := model.Cause{Fault: best.Op, Kind: kindOfCause(best.Fault, c.roleOf(best.Fault))}
	if best.Target == c.old.Client && (best.rank >= ofHolder || len(suspects) == 1 && (best.rank == partDelayed || c.m.Hampers(best.Fault, c.old) || c.toldUnder(best.Fault))) {
		cause.Text = c.holderText(best)
		return cause
	}
	cause.Text = c.coincidence(suspects)
	for _, s := range suspects[1:] {
		cause.Others = append(cause.Others, s.Op)
	}
	return cause
}

// suspects are the faults of the highest rank, the one that lasted longest first.
func (c *causeOf) suspects() (all []suspect) {
	m := c.m
	until := c.atNS
	if c.early {
		until = c.lossNS
	}
	for _, f := range m.Faults {
		s := suspect{Fault: f}
		gone, asked := f.GoneNS(m.EndNS), c.old.StartNS()
		s.overNS = min(gone, until) - max(f.BeginNS, asked)
		s.settled = asked - gone
		s.before = s.settled > 0
		switch {
		case f.EffectiveNS == 0 || f.BeginNS > until:
			continue
		case f.BeginNS > c.old.GivenBackNS(): // it explains nothing of this hold
			continue
		case s.before && (s.settled > shortlyNS(c.m) || m.OfClient(f)):
			continue
		}
		if s.rank = c.rank(f); s.rank != noSuspect && !(s.before && s.rank < someServer) {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b suspect) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), boolCompare(a.before, b.before), cmp.Compare(max(a.settled, 0), max(b.settled, 0)), cmp.Compare(b.overNS, a.overNS))
	})
	n := 0
	for n < len(all) && all[n].rank == all[0].rank && all[n].before == all[0].before {
		n++
	}
	if n > 0 && all[0].before { // the last one that was over says it all
		n = 1
	}
	same := all[:n:n]
	if n > 0 && all[0].rank > partDelayed && all[0].rank < ofHolder {
		for _, s := range all[n:] { // it may be the reason as well
			if s.rank == partDelayed {
				same = append(same, s)
			}
		}
	}
	return same
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// shortlyNS is how long after a fault of a server what it led to may still come to light: until the next lease and the
// next election are over.
func shortlyNS(m *model.Model) int64 { return m.Plan.RecoveryMS() * 1e6 }

func (c *causeOf) rank(f *model.Fault) rank {
	m := c.m
	switch {
	case f.Target == history.ResourceTarget: // what it does to the data resource-integrity says
		return noSuspect
	case f.Target == c.old.Client:
		return c.rankOfHolder(f)
	case c.young != nil && f.Target == c.young.Client:
		switch {
		case f.GoneNS(m.EndNS) <= c.young.InvokeNS: // it was over before it asked
			return noSuspect
		case f.Name == history.ClockFault:
			return holderClock
		}
		return nextHolder
	case m.OfClient(f) && !c.asked(f.Target):
		return noSuspect
	case m.OfClient(f):
		return bystander
	case f.Name == history.ClockFault && countsLeases(m, f):
		return leaseClock
	case f.Name == history.ClockFault:
		return bystander
	case led(m, f), f.Role == "all":
		return leadingServer
	}
	return someServer
}

// asked reports whether a client had anything to do with the lock while the old hold lasted.
func (c *causeOf) asked(client string) bool {
	asks := c.m.AsksOf(c.old.Key, client)
	at := model.FirstAfter(asks, c.atNS+1, func(h *model.Hold) int64 { return h.InvokeNS })
	if at == 0 {
		return false
	}
	h := asks[at-1]
	return h.Outcome == history.Info || max(c.m.WaitsUntil(h), min(h.GivenBackNS(), h.OverNS())) >= c.old.StartNS()
}

// toldUnder reports whether the old holder was told under a fault, or after it, that its lock is lost: that ends its protection (rule R5).
func (c *causeOf) toldUnder(f *model.Fault) bool {
	return c.early && c.old.LostNS != 0 && c.old.LostNS <= c.lossNS && f.BeginNS <= c.old.LostNS
}

// rankOfHolder is that of a fault of the old holder. What stops or silences it cannot take the lock from it before its
// lease has run out.
func (c *causeOf) rankOfHolder(f *model.Fault) rank {
	switch {
	case f.Name == history.ClockFault: // it keeps no holder from extending its lease, but some compute its end by it
		return holderClock
	case c.early && !c.toldUnder(f), c.extendedAfter(f), c.atNS > c.lossNS && f.GoneNS(c.m.EndNS) <= c.sentNS() && !c.m.OutlivesLease(f, c.old):
		return noSuspect
	case f.Name == history.DelayFault:
		return c.rankOfDelay(f)
	case c.early, c.m.Hampers(f, c.old): // what a server suffered may be the reason as well
		return leadingServer
	case c.m.OutlivesLease(f, c.old):
		return outlivedLease
	}
	return ofHolder
}

// extendedAfter reports whether the lease was extended once a fault was over, before the loss: then it is none of the reasons.
func (c *causeOf) extendedAfter(f *model.Fault) bool {
	gone := f.GoneNS(c.m.EndNS)
	after := func(l model.Lease) bool { return l.SeenNS >= gone && l.TimeNS <= c.lossNS }
	s := c.m.Sessions[c.old.Session]
	return slices.ContainsFunc(c.old.Leases(), after) || s != nil && slices.ContainsFunc(s.Leases, after)
}

// rankOfDelay is that of a delay of the old holder. A lease runs out during many a delay that is too short to have made it: a delay is
// the reason only if what was sent under it came when the lease, as acknowledged, was over. One that did not hold back all that was sent all
// servers, as one of the way to the resource does not, comes after others where the harm came with the loss; a write that comes after it may
// be late by that delay.
func (c *causeOf) rankOfDelay(f *model.Fault) rank {
	m := c.m
	earliest, _ := m.LeaseAt(c.old, min(c.lossNS, f.OverNS(m.EndNS)))
	switch {
	case f.LagNS > 0 && earliest != 0 && f.EffectiveNS+f.LagNS >= earliest && m.OutlivesLease(f, c.old):
		return outlivedLease
	case m.ExtendedUnder(f, c.old):
		return bystander
	case f.LagNS == 0 && c.lossNS == c.atNS:
		return partDelayed
	}
	return ofHolder
}

// countsLeases reports whether a fault changes a clock by which leases are counted. Where that is not known any may be.
func countsLeases(m *model.Model, f *model.Fault) bool {
	return m.Plan.LeaseClock == "" || f.Clock == "" || f.Clock == m.Plan.LeaseClock
}

// led reports whether the target of a fault led the service when it was hit, or is the service as a whole.
func led(m *model.Model, f *model.Fault) bool {
	if f.Words().OfService || f.Role == "leader" {
		return true
	}
	at, _ := slices.BinarySearchFunc(m.Leaders, f.BeginNS+1, func(l model.Mark, ns int64) int { return cmp.Compare(l.TimeNS, ns) })
	return at > 0 && m.Leaders[at-1].Value == f.Target
}

func (c *causeOf) roleOf(f *model.Fault) string {
	switch {
	case f.Target == c.old.Client:
		return "holder"
	case c.young != nil && f.Target == c.young.Client:
		return "next holder"
	case c.m.OfClient(f):
		return "another client"
	case f.Role != "":
		return f.Role
	}
	return "server"
}

// maxNamed bounds the faults that a cause names.
const maxNamed = 3

// coincidence names faults of which nothing more is proven than that they came at that time.
func (c *causeOf) coincidence(all []suspect) string {
	var names []string
	for _, s := range all[:min(len(all), maxNamed)] {
		end := c.m.EndNS
		name := faultNamed(s.Fault, c.roleWords(s.Fault))
		switch {
		case s.before && s.Momentary:
			name += ", which was over before the lock was asked for"
		case s.before:
			name += fmt.Sprintf(", which was over %s before the lock was asked for", history.Duration(s.settled))
		case !s.Momentary:
			name += " for " + history.Duration(s.Fault.OverNS(end)-workedNS(s.Fault))
		}
		names = append(names, name)
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	verb := "it coincides with "
	if all[0].before {
		verb = "it comes after "
	}
	return verb + strings.Join(names, " and ")
}

// roleWords is the role with what else matters of it.
func (c *causeOf) roleWords(f *model.Fault) string {
	role := c.roleOf(f)
	if f.Role != "leader" && !f.Words().OfService && !c.m.OfClient(f) && led(c.m, f) {
		role += ", which led"
	}
	return role
}

// clockStep is the cause of what no fault explains: the machine's own clock, if it was set while the hold lasted.
func (c *causeOf) clockStep() model.Cause {
	for _, s := range c.m.Steps {
		if s.ToNS >= c.old.StartNS() && s.FromNS <= c.lossNS {
			return model.Cause{Kind: "clock step", Text: fmt.Sprintf("it coincides with a step of this machine's wall clock, by %s", signed(s.ByNS))}
		}
	}
	return model.Unexplained
}

func signed(ns int64) string {
	if ns < 0 {
		return "-" + history.Duration(-ns)
	}
	return "+" + history.Duration(ns)
}

// holderText says how a fault of the old holder led there, as far as the order of things proves it.
func (c *causeOf) holderText(s suspect) string {
	f, old, young := s.Fault, c.old, c.young
	over := f.OverNS(c.m.EndNS)
	lasted, then := " for "+history.Duration(over-f.EffectiveNS), "meanwhile"
	if f.Momentary {
		lasted, then = "", "after that"
	}
	var b strings.Builder
	earliest, _ := c.m.LeaseAt(old, f.EffectiveNS)
	switch seen := f.EffectiveNS <= c.lossNS; { // before it was seen to work it may not have
	case seen && s.rank == outlivedLease && earliest > f.EffectiveNS:
		fmt.Fprintf(&b, "%s was %s%s; its acknowledged lease had %s left and expired %s", old.Client, f.Words().Began, lasted, history.Duration(earliest-f.EffectiveNS), then)
	case seen && s.rank == outlivedLease:
		fmt.Fprintf(&b, "%s was %s%s when its acknowledged lease may have expired already", old.Client, f.Words().Began, lasted)
	default:
		fmt.Fprintf(&b, "it coincides with a %s of %s%s", f.Words().One, old.Client, lasted)
		if earliest > f.EffectiveNS {
			fmt.Fprintf(&b, "; the acknowledged lease of %s had %s left", old.Client, history.Duration(earliest-f.EffectiveNS))
			if later, _ := c.m.LeaseAt(old, over); later == earliest && c.m.OutlivesLease(f, old) {
				b.WriteString(", and no extension is known")
			}
		}
	}
	if young != nil && !f.Momentary && young.DoneNS > workedNS(f) && young.DoneNS < over {
		fmt.Fprintf(&b, "; %s got %s%s before that ended", young.Client, young.Key, WithToken(young))
	}
	switch back := old.GivenBackNS(); {
	case old.LostNS != 0 && old.LostNS <= c.harmNS:
		fmt.Fprintf(&b, "; %s had been told %s before", old.Client, history.Duration(c.harmNS-old.LostNS))
	case back <= c.lossNS, back <= c.harmNS && !c.isRelease():
		fmt.Fprintf(&b, "; %s had asked to release it %s before", old.Client, history.Duration(c.harmNS-back))
	case old.Outcome == history.OK && !old.Voided:
		fmt.Fprintf(&b, "; %s had not been told that the lock was lost", old.Client)
	}
	return b.String()
}

// isRelease reports whether what the finding tells of came of the old holder's own release: that it asked for it is no news then.
func (c *causeOf) isRelease() bool {
	return slices.ContainsFunc(c.old.Attempts, func(a *model.Attempt) bool { return a.F == history.Release && a.SentNS() == c.harmNS })
}

// workedNS is from when on a fault may have worked. Most are seen to work within milliseconds; a failover is asked for,
// and seen when another server leads, long after the grants that it led to.
func workedNS(f *model.Fault) int64 {
	if f.Words().OfService {
		return f.BeginNS
	}
	return f.EffectiveNS
}

// kindOfCause is the kind of a cause that is this fault of a target in that role.
func kindOfCause(f *model.Fault, role string) string {
	if f.Words().OfService {
		return f.Words().One
	}
	return f.Words().One + " of " + role
}

// faultNamed says which fault it is, of a target in that role.
func faultNamed(f *model.Fault, role string) string {
	if f.Words().OfService {
		return "a " + f.Words().One
	}
	return fmt.Sprintf("a %s of %s (%s)", f.Words().One, f.Target, role)
}

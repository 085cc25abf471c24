package reports

import (
	"fmt"
	"strings"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// exposed is what the run was exposed to, in sentences, and as the table that they are made from.
type exposed struct {
	Sentences []string // one for contention, one for each kind of fault
	Harm      []string
	Never     []never
	Rows      []exposureRow
}

// never is something that never happened.
type never struct {
	Words  string
	Needed bool // the run proves nothing without it
}

type exposureRow struct {
	checker.Exposure
	Words   string
	Missing bool
}

// faultKinds are the kinds of faults that exposures are counted for, by the plural that names them.
var faultKinds = []struct {
	plural    string
	name      history.F
	one, many string
}{
	{"pauses", "pause", "pause", "pauses"},
	{"partitions", "partition", "partition", "partitions"},
	{"kills", "kill", "kill", "kills"},
	{"clock-skews", "clock", "clock skew", "clock skews"},
	{"failovers", "failover", "failover", "failovers"},
	{"losses", "loss", "stretch of packet loss", "stretches of packet loss"},
}

func newExposed(j Judgement) exposed {
	var x exposed
	counts := map[string]int64{}
	for _, e := range j.Result.Exposure {
		counts[e.Name] = e.Count
		x.Rows = append(x.Rows, exposureRow{e, exposureWords(e), e.Count < e.Min})
		if e.Count == 0 {
			x.Never = append(x.Never, never{neverWords(e), e.Min > 0})
		}
	}
	if n := counts[history.ExposureContended]; n > 0 {
		x.Sentences = append(x.Sentences, plural(n, "grant", "grants")+" of a lock that another client was waiting for.")
	}
	for _, kind := range faultKinds {
		if words := kindWords(counts, kind.plural, kind.one, kind.many, failedFaults(j.Model, kind.name)); words != "" {
			x.Sentences = append(x.Sentences, words)
		}
	}
	x.Harm = harmWords(j.Plan, j.Result.Stats)
	return x
}

// kindWords is such as "212 pauses, 173 while holding, 41 outlived the lease."; "" if there was none.
func kindWords(counts map[string]int64, name, one, many string, failed int64) string {
	var words []string
	if n := counts[name]; n > 0 {
		words = append(words, plural(n, one, many))
		for _, part := range []struct {
			n     int64
			words string
		}{
			{counts[history.OfHolders(name)], "while holding"},
			{counts[history.PastLease(name)], "outlived the lease"},
			{counts[history.OfServers(name)], "of servers"},
		} {
			if part.n > 0 {
				words = append(words, grouped(part.n)+" "+part.words)
			}
		}
		if n := counts[history.AtOnce(name)]; n > 1 {
			words = append(words, "up to "+grouped(n)+" at the same time")
		}
	}
	if failed > 0 {
		words = append(words, plural(failed, one, many)+" not seen to take effect, which count for nothing")
	}
	if len(words) == 0 {
		return ""
	}
	return strings.Join(words, ", ") + "."
}

func failedFaults(m *checker.Model, name history.F) (n int64) {
	for _, f := range m.Faults {
		if f.Name == name && f.EffectiveNS == 0 {
			n++
		}
	}
	return n
}

// neverWords is what did not happen. What was needed the checker says in its own words.
func neverWords(e checker.Exposure) string {
	if e.Min > 0 {
		return firstOf(e.Text, e.Name)
	}
	return "no " + exposureWords(e)
}

func harmWords(p history.Plan, s checker.Stats) []string {
	guard := "guard " + firstOf(p.Guard, "unknown")
	if note := guardNotes[p.Guard]; note != "" {
		guard += ": " + note
	}
	words := []string{fmt.Sprintf("%s accepted over %s: %.2f for each (%s).", plural(s.StaleAccepted, "stale write", "stale writes"),
		plural(s.OutlivedLeases, "outlived lease", "outlived leases"), s.StalePerOutlived, guard)}
	if s.OutlivedLeases == 0 {
		words[0] = fmt.Sprintf("%s accepted. No holder's lease was outlived by a fault, so there is no rate for the %s.",
			plural(s.StaleAccepted, "stale write", "stale writes"), guard)
	}
	return append(words, fmt.Sprintf("%s rejected by the storage, %s held back by the client's own look at its lock.",
		plural(s.Rejected, "stale write", "stale writes"), plural(s.Guarded, "write", "writes")))
}

package page

import (
	"cmp"
	"fmt"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
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
	model.Exposure
	Words   string
	Missing bool
}

func newExposed(j rundir.Judgement) exposed {
	var x exposed
	counts := map[string]int64{}
	for _, e := range j.Result.Exposure {
		counts[e.Name] = e.Count
		x.Rows = append(x.Rows, exposureRow{e, words.Exposure(e), e.Count < e.Min})
		if e.Count == 0 {
			x.Never = append(x.Never, never{neverWords(e), e.Min > 0})
		}
	}
	if n := counts[history.ExposureContended]; n > 0 {
		x.Sentences = append(x.Sentences, history.Counted(n, "grant", "grants")+" of a lock that another client was waiting for.")
	}
	if n := counts[history.ExposureWriters]; n > 0 {
		x.Sentences = append(x.Sentences, history.Counted(n, "client", "clients")+" whose write under a lock the resource handled and answered.")
	}
	for _, kind := range history.Faults() {
		if phrase := kindWords(counts, kind.FaultWords, failedFaults(j.Model, kind.Name)); phrase != "" {
			x.Sentences = append(x.Sentences, phrase)
		}
	}
	x.Harm = harmWords(j.Plan, j.Result)
	return x
}

// kindWords is such as "212 pauses, 173 while holding, 41 outlived the lease."; "" if there was none.
func kindWords(counts map[string]int64, kind history.FaultWords, failed int64) string {
	name, one, many := kind.Exposures, kind.One, kind.Many
	var parts []string
	if n := counts[name]; n > 0 {
		parts = append(parts, history.Counted(n, one, many))
		for _, part := range []struct {
			n      int64
			phrase string
		}{
			{counts[history.OfHolders(name)], "while holding"},
			{counts[history.PastLease(name)], "outlived the lease"},
			{counts[history.OfServers(name)], "of servers"},
		} {
			if part.n > 0 {
				parts = append(parts, history.Grouped(part.n)+" "+part.phrase)
			}
		}
		if n := counts[history.AtOnce(name)]; n > 1 {
			parts = append(parts, "up to "+history.Grouped(n)+" at the same time")
		}
	}
	if failed > 0 {
		parts = append(parts, history.Counted(failed, one, many)+" not confirmed, which count for nothing")
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + "."
}

func failedFaults(m *model.Model, name history.F) (n int64) {
	for _, f := range m.Faults {
		if f.Name == name && f.EffectiveNS == 0 {
			n++
		}
	}
	return n
}

// neverWords is what did not happen. What was needed the checker says in its own words.
func neverWords(e model.Exposure) string {
	if e.Min > 0 {
		return cmp.Or(e.Text, e.Name)
	}
	return "no " + words.Exposure(e)
}

func harmWords(p history.Plan, r *model.Result) []string {
	s, harm, rate := r.Stats, words.Harm(p, r), words.HarmRate(p, r.Stats)
	guard := "guard " + cmp.Or(p.Guard, "unknown")
	if note := guardNote(p); note != "" {
		guard += ": " + note
	}
	if rate != "" {
		rate = ": " + rate + " for each"
	}
	sentences := []string{fmt.Sprintf("%s%s (%s).", words.HarmOver(p, r), rate, guard)}
	if s.OutlivedLeases == 0 {
		sentences[0] = fmt.Sprintf("%s. No holder's lease was outlived by a fault, so there is no rate for the %s.", harm, guard)
	}
	return append(sentences, fmt.Sprintf("%s rejected by the resource, %s held back by %s.",
		words.Rejected(p, s.Rejected), history.Counted(s.Guarded, "write", "writes"), words.Guarding(s)))
}

package reports

import (
	"strings"
	"testing"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

func TestSentence(t *testing.T) {
	violated := func(name checker.Name, layer checker.Layer, count, at int64) checker.Property {
		return checker.Property{Name: name, Layer: layer, Verdict: checker.Violation, Count: count, Findings: []checker.Finding{{AtNS: at}}}
	}
	etcd := history.Plan{Backend: "etcd", Nemesis: "pause"}
	for name, test := range map[string]struct {
		plan   history.Plan
		result checker.Result
		want   string
	}{
		"harm comes first": {etcd, checker.Result{Verdict: checker.Violation, Properties: []checker.Property{
			violated(checker.MutualExclusion, checker.LayerBelief, 20, 1), violated(checker.StaleWrite, checker.LayerFencing, 14, 12431e6)}},
			"UNSAFE: etcd under pause: 14 stale writes accepted, first at 12.431 s; 1 other property violated"},
		"one": {etcd, checker.Result{Verdict: checker.Violation, Properties: []checker.Property{
			violated(checker.StaleWrite, checker.LayerFencing, 1, 12431e6)}},
			"UNSAFE: etcd under pause: 1 stale write accepted, first at 12.431 s"},
		"several of them are named together": {etcd, checker.Result{Verdict: checker.Violation, Properties: []checker.Property{
			violated(checker.EarlyExpiry, checker.LayerService, 2, 1e9), violated(checker.StaleWrite, checker.LayerFencing, 1, 2e9),
			violated(checker.LockLinearizability, checker.LayerService, 1, 1e9)}},
			"UNSAFE: etcd under pause: 1 stale write accepted, first at 2.000 s; and the lock itself is at fault: 2 grants lost before their lease could run out, 1 contradiction in the lock's answers"},
		"a bug of the service is named beside the harm": {etcd, checker.Result{Verdict: checker.Violation, Properties: []checker.Property{
			violated(checker.StaleWrite, checker.LayerFencing, 1, 2e9), violated(checker.EarlyExpiry, checker.LayerService, 2, 1e9)}},
			"UNSAFE: etcd under pause: 1 stale write accepted, first at 2.000 s; and the lock itself is at fault: 2 grants lost before their lease could run out"},
		"masked": {etcd, checker.Result{Verdict: checker.Pass, Stats: checker.Stats{Ops: 1204, Rejected: 9}, Properties: []checker.Property{
			{Name: checker.MutualExclusion, Verdict: checker.Masked, Count: 14}}},
			"PASS: etcd under pause: no violation in 1,204 operations; 14 overlaps of two holders, all masked by fencing; 9 stale writes rejected"},
		"nothing happened": {etcd, checker.Result{Verdict: checker.Inconclusive, Reason: "no pause outlived a lease"},
			"INCONCLUSIVE: etcd under pause: no pause outlived a lease"},
		"no faults": {history.Plan{Backend: "etcd", Nemesis: "none"}, checker.Result{Verdict: checker.Pass, Stats: checker.Stats{Ops: 1}},
			"PASS: etcd without faults: no violation in 1 operation"},
		"a property unknown here": {etcd, checker.Result{Verdict: checker.Violation, Properties: []checker.Property{
			violated("fairness", checker.LayerLiveness, 2, 1e9)}},
			"UNSAFE: etcd under pause: 2 fairness violations, first at 1.000 s"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Sentence(test.plan, &test.result); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestEveryPropertyHasWordsAndAPlaceInTheHeadline(t *testing.T) {
	for _, name := range checker.AllProperties {
		if w := wordings[name]; w.one == "" || w.many == "" || w.meaning == "" {
			t.Errorf("%s has no words", name)
		}
		r := &checker.Result{Properties: []checker.Property{{Name: name, Verdict: checker.Violation}}}
		if p := headline(r); p == nil || p.Name != name {
			t.Errorf("%s never makes the headline", name)
		}
	}
	if len(byHarm) != len(checker.AllProperties) {
		t.Errorf("byHarm ranks %d of %d properties", len(byHarm), len(checker.AllProperties))
	}
}

func TestTextOfAHistoryCannotSteerATerminal(t *testing.T) {
	for _, hostile := range []string{"\x1b[2J", "\x1b]0;title\a", "\u009b31m", "a\rb", "a\nb", "\u202egnp.exe", "\u200b"} {
		if got := plain(hostile); strings.ContainsAny(got, "\x1b\a\r\n\u009b\u202e\u200b") {
			t.Errorf("%q became %q", hostile, got)
		}
	}
	if got := plain("läuft ✓ 42"); got != "läuft ✓ 42" {
		t.Errorf("harmless text became %q", got)
	}
}

func TestTheCommandCanBePasted(t *testing.T) {
	got := shellWords([]string{"lockcheck", "run", "--out=my runs", "--client=it's; rm -rf $HOME", ""})
	want := `lockcheck run '--out=my runs' '--client=it'\''s; rm -rf $HOME' ''`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSpansAndClocks(t *testing.T) {
	for ns, want := range map[int64]string{0: "0 ns", 999: "999 ns", 1500: "2 µs", 1500e3: "1.5 ms", 250e6: "250 ms", 1203e6: "1.20 s", 12345e6: "12.3 s"} {
		if got := span(ns); got != want {
			t.Errorf("span(%d) is %q, want %q", ns, got, want)
		}
	}
	if got := clock(12431e6); got != "12.431 s" {
		t.Errorf("clock says %q", got)
	}
	if got := grouped(-1234567); got != "-1,234,567" {
		t.Errorf("grouped says %q", got)
	}
}

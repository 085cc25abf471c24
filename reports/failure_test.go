package reports

import (
	"slices"
	"testing"

	"lockcheck/checker"
)

// The log of a test has room for a few stories. Two believers come with every pause; what the lock itself did wrong must not
// be what is left out.
func TestWhatTheLockDidWrongIsToldBeforeWhatPausesAlwaysDo(t *testing.T) {
	violated := func(name checker.Name, layer checker.Layer) checker.Property {
		return checker.Property{Name: name, Layer: layer, Verdict: checker.Violation, Findings: []checker.Finding{{ID: string(name) + "-1"}, {ID: string(name) + "-2"}}}
	}
	r := &checker.Result{Properties: []checker.Property{
		violated(checker.MutualExclusion, checker.LayerBelief),
		{Name: checker.EarlyExpiry, Layer: checker.LayerService, Verdict: checker.Pass},
		violated(checker.ReleaseByOwner, checker.LayerService),
		violated(checker.StaleWrite, checker.LayerFencing),
	}}
	var ids []string
	for _, f := range firstFindings(r) {
		ids = append(ids, f.ID)
	}
	if want := []string{"stale-write-1", "release-by-owner-1", "mutual-exclusion-1"}; !slices.Equal(ids, want) {
		t.Errorf("told %q, want %q", ids, want)
	}
}

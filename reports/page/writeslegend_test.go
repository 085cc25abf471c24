package page

import (
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/reports/testkit"
)

// What the timeline says of writes is what their resource does: one that compares values rejects nothing for its token.
func TestTheLegendOfWritesIsThatOfTheResource(t *testing.T) {
	for _, test := range []struct {
		resource     history.Resource
		fenced       bool
		want, absent string
	}{
		{history.ResourceFenced, true, "what lies below it is stale", "built on an old value"},
		{history.ResourceCAS, false, "write rejected: built on an old value", "what lies below it is stale"},
		{history.ResourcePlain, false, "which the resource does not compare", "what lies below it is stale"},
	} {
		j := testkit.EtcdPauseRun()
		j.Plan.Resource, j.Plan.Fenced = test.resource, test.fenced
		marked := j.Model.Requests.At(0)
		marked.Kind, marked.Mark = history.KindWrite, "7"
		j.Model.Requests.Set(0, marked)
		page, _ := rendered(t, j)
		if !strings.Contains(page, test.want) || strings.Contains(page, test.absent) {
			t.Errorf("%s: the legend says not %q, or %q", test.resource, test.want, test.absent)
		}
	}
	if legend := newWritesLegend(history.Plan{}, false); legend.Mark != "" {
		t.Errorf("without any token seen it speaks of %q", legend.Mark)
	}
}

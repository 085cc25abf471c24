package page

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"lockcheck/reports/testkit"
)

func TestEachFigureOverTimeHasATableBesideIt(t *testing.T) {
	_, doc := rendered(t, testkit.EtcdPauseRun())
	found := 0
	for _, a := range testkit.Elements(doc, "article") {
		id, ok := strings.CutPrefix(testkit.Attribute(a, "id"), "chart-")
		if !ok {
			continue
		}
		found++
		drawings, tables := testkit.Elements(a, "svg"), testkit.Elements(a, "table")
		if len(drawings) != 1 || len(tables) != 1 || len(testkit.Attribute(drawings[0], "aria-label")) < 20 {
			t.Fatalf("%s has %d drawings and %d tables", id, len(drawings), len(tables))
		}
		if rows := len(testkit.Elements(tables[0], "tr")); rows < 5 {
			t.Errorf("the table of %s has %d rows", id, rows)
		}
		for _, class := range []string{"shade", "fault"} {
			if !slices.ContainsFunc(testkit.Elements(drawings[0]), func(e *html.Node) bool { return testkit.Attribute(e, "class") == class }) {
				t.Errorf("%s: nothing is drawn for %q", id, class)
			}
		}
	}
	if found != 5 {
		t.Errorf("%d of 5 figures are on the page", found)
	}
}

package page

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"lockcheck/reports/internal/dom"
	"lockcheck/reports/internal/madeup"
)

func TestEachFigureOverTimeHasATableBesideIt(t *testing.T) {
	_, doc := rendered(t, madeup.EtcdPauseRun())
	found := 0
	for _, a := range dom.Elements(doc, "article") {
		id, ok := strings.CutPrefix(dom.Attribute(a, "id"), "chart-")
		if !ok {
			continue
		}
		found++
		drawings, tables := dom.Elements(a, "svg"), dom.Elements(a, "table")
		if len(drawings) != 1 || len(tables) != 1 || len(dom.Attribute(drawings[0], "aria-label")) < 20 {
			t.Fatalf("%s has %d drawings and %d tables", id, len(drawings), len(tables))
		}
		if rows := len(dom.Elements(tables[0], "tr")); rows < 5 {
			t.Errorf("the table of %s has %d rows", id, rows)
		}
		for _, class := range []string{"shade", "fault"} {
			if !slices.ContainsFunc(dom.Elements(drawings[0], ""), func(e *html.Node) bool { return dom.Attribute(e, "class") == class }) {
				t.Errorf("%s: nothing is drawn for %q", id, class)
			}
		}
	}
	if found != 5 {
		t.Errorf("%d of 5 figures are on the page", found)
	}
}

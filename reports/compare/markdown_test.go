package compare

import (
	"bytes"
	"strings"
	"testing"

	"lockcheck/reports/testkit"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	nethtml "golang.org/x/net/html"
)

// rendered is Markdown as GitHub shows it: its flavour, with the HTML that stands in the text.
func rendered(t *testing.T, markdown string) *nethtml.Node {
	t.Helper()
	var out bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())).Convert([]byte(markdown), &out); err != nil {
		t.Fatal(err)
	}
	return testkit.Parse(t, out.String())
}

// The table is one, with any name of a key, and every cell says what the row does.
func TestMarkdownTablesRender(t *testing.T) {
	c := sample()
	document := rendered(t, Markdown(c, MaxSummary))
	tables := testkit.Elements(document, "table")
	if len(tables) != 1 {
		t.Fatalf("%d tables, want 1", len(tables))
	}
	lines := testkit.Elements(tables[0], "tr")
	if len(lines) != 1+len(c.Cells) {
		t.Fatalf("%d lines, want a heading and %d cells", len(lines), len(c.Cells))
	}
	for i, line := range lines {
		want := heads(columns)
		if i > 0 {
			want = newRow(c.Cells[i-1]).cells(columns)
		}
		cells := testkit.Elements(line, "th", "td")
		if len(cells) != len(want) {
			t.Fatalf("line %d has %d cells, want %d", i, len(cells), len(want))
		}
		for k, cell := range cells {
			if got := testkit.Text(cell); got != strings.TrimSpace(want[k]) {
				t.Errorf("line %d, %s: %q, want %q", i, columns[k].head, got, want[k])
			}
		}
	}
}

// What a run said is text: it makes no element, no link and no mention.
func TestMarkdownHoldsOnlyText(t *testing.T) {
	c := sample()
	markdown := Markdown(c, MaxSummary)
	document := rendered(t, markdown)
	if made := testkit.Elements(document, "script", "a", "img", "code", "iframe", "style"); len(made) > 0 {
		t.Errorf("it has %d elements of foreign making, the first is %s %v", len(made), made[0].Data, made[0].Attr)
	}
	stories := 0
	for _, cell := range c.Cells {
		if run, ok := cell.representative(); ok && len(run.Story) > 0 {
			stories++
		}
	}
	folded := testkit.Elements(document, "details")
	if len(folded) != stories {
		t.Errorf("%d stories fold, want %d", len(folded), stories)
	}
	for _, story := range folded {
		if len(testkit.Elements(story, "details", "table")) > 0 || len(testkit.Elements(story, "summary")) != 1 || len(testkit.Elements(story, "li")) == 0 {
			t.Errorf("a story is not closed, or has no steps: %s", testkit.Text(story))
		}
	}
	if !strings.Contains(testkit.Text(document), "alert(1)") {
		t.Error("the text itself is gone")
	}
	for _, wrong := range []string{"\x1b", "\x00", "@", "http://"} {
		if strings.Contains(markdown, wrong) {
			t.Errorf("it has %q", wrong)
		}
	}
}

package compare

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"lockcheck/reports/testkit"

	nethtml "golang.org/x/net/html"
)

func pageOf(t *testing.T, c *Comparison) string {
	t.Helper()
	var out bytes.Buffer
	if err := HTML(&out, c); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Every cell of the matrix says what came of it in word and shape, with all its figures, and opens the report of a run.
func TestEveryCellOfTheMatrixSaysItAll(t *testing.T) {
	c := sample()
	document := testkit.Parse(t, pageOf(t, c))
	boxes := map[string]*nethtml.Node{} // by the cell that their details are of
	for _, n := range testkit.Elements(document, "td") {
		if !strings.Contains(testkit.Attribute(n, "class"), "box") {
			continue
		}
		for _, a := range testkit.Elements(n, "a") {
			if id, ok := strings.CutPrefix(testkit.Attribute(a, "href"), "#"); ok {
				boxes[id] = n
			}
		}
	}
	if len(boxes) != len(c.Cells) {
		t.Errorf("%d boxes, want one for each of %d cells", len(boxes), len(c.Cells))
	}
	for _, details := range testkit.Elements(document, "details") {
		box, ok := boxes[testkit.Attribute(details, "id")]
		if !ok {
			t.Errorf("no box leads to %s", testkit.Attribute(details, "id"))
			continue
		}
		for i, r := range c.Cells {
			if testkit.Attribute(details, "id") != "cell-"+string(rune('1'+i)) {
				continue
			}
			line := newPageRow(i+1, r)
			text := strings.Join(strings.Fields(testkit.Text(box)), " ")
			for _, want := range []string{line.Shape, line.Standing, line.Marks, line.Found, line.Runs, line.Ops, line.Availability, line.Exposure} {
				if !strings.Contains(text, strings.Join(strings.Fields(want), " ")) {
					t.Errorf("%v: its box lacks %q: %s", r.Cell, want, text)
				}
			}
			if r.FirstNS != nil && !strings.Contains(text, "first "+string(r.Headline)+" at "+line.First) {
				t.Errorf("%v: its box lacks the time to the first finding: %s", r.Cell, text)
			}
			if line.Link != "" && !strings.Contains(testkit.Attribute(testkit.Elements(box, "a")[0], "href"), "/report.html") {
				t.Errorf("%v: a click opens %q", r.Cell, testkit.Attribute(testkit.Elements(box, "a")[0], "href"))
			}
		}
	}
}

func TestPageHoldsOnlyText(t *testing.T) {
	text := pageOf(t, sample())
	for _, wrong := range []string{"<script", "javascript:x\"", "src=", "\x1b", "http://e.example\"", "href=\"runs/a b"} {
		if strings.Contains(text, wrong) {
			t.Errorf("the page has %q", wrong)
		}
	}
	for _, want := range []string{"default-src 'none'", `href="./runs/a%20b%23%3Fc%25/javascript:x/report.html"`, "prefers-color-scheme: dark", "lockcheck.yaml:12",
		"95 % interval 0 to 98 %", "stale-write: expected violation did not come", "&lt;/script&gt;", "not in the matrix"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "./") && !strings.HasPrefix(m[1], "../") {
			t.Errorf("a link leads away: %s", m[1])
		}
	}
}

// A dashed border is explained where there is one, in words of what was asked.
func TestTheDashedBorderIsExplained(t *testing.T) {
	cell := Cell{Backend: "etcd", Nemesis: "pause", Workload: "lock"}
	for name, test := range map[string]struct {
		expect *Expectation
		run    Run
		want   string
	}{
		"as expected":     {pauseHarms(), overlapAndStale(), ""},
		"not as expected": {pauseHarms(), calm(), "dashed: not as expected, or not known to be"},
		"passed":          {nil, calm(), ""},
		"violated":        {nil, overlapAndStale(), "dashed: violated, or not known to have passed"},
		"unclear":         {nil, unexposed(), "dashed: violated, or not known to have passed"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Comparison{StartedAt: time.Unix(0, 0), Expecting: test.expect != nil, Shard: Whole, Matrix: []Cell{cell},
				Cells: []Result{NewResult(cell, test.expect, []Run{test.run}, 1)}}
			c.Finish()
			text := pageOf(t, c)
			if dashed := strings.Contains(text, `pass bad"`) || strings.Contains(text, `violation bad"`) || strings.Contains(text, `inconclusive bad"`); dashed != (test.want != "") {
				t.Errorf("a dashed border: %v", dashed)
			}
			if got := strings.Contains(text, "dashed:"); got != (test.want != "") || !strings.Contains(text, test.want) {
				t.Errorf("explained: %v, want %q", got, test.want)
			}
		})
	}
}

package page

import (
	"cmp"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
	"lockcheck/reports/svg"
	"lockcheck/reports/testkit"
)

// TestLook writes the report of the made-up run, for eyes where REPORT_LOOK names a directory to keep it in.
func TestLook(t *testing.T) {
	d, err := rundir.Open(cmp.Or(os.Getenv("REPORT_LOOK"), t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(d, testkit.EtcdPauseRun()); err != nil {
		t.Fatal(err)
	}
}

func rendered(t *testing.T, j rundir.Judgement, windows ...windowLink) (string, *html.Node) {
	t.Helper()
	var out strings.Builder
	if err := render(&out, j, "20260101T010203-etcd-lock-pause-7", windows); err != nil {
		t.Fatal(err)
	}
	return out.String(), testkit.Parse(t, out.String())
}

func TestThePageNeedsNothingElse(t *testing.T) {
	page, doc := rendered(t, testkit.EtcdPauseRun(), windowLink{"lock-linearizability", "k1", "porcupine-k1.html"})
	outside := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9]|url\((?:[^#)]|$)|@import|fetch\(|XMLHttpRequest|import\(`)
	for _, line := range strings.Split(page, "\n") {
		code, _, _ := strings.Cut(line, " // ") // a comment fetches nothing
		if hit := outside.FindString(code); hit != "" {
			t.Errorf("reaches out with %q: %.120s", hit, line)
		}
	}
	for _, tag := range []string{"link", "img", "iframe", "object", "embed", "base", "form"} {
		if found := testkit.Elements(doc, tag); len(found) > 0 {
			t.Errorf("the page has a <%s>", tag)
		}
	}
	for _, script := range testkit.Elements(doc, "script") {
		if src := testkit.Attribute(script, "src"); src != "" {
			t.Errorf("script from %s", src)
		}
	}
	allowed := []string{"plan.json", "history.jsonl", "resource.jsonl", "results.json", "nodes/", "porcupine-k1.html"}
	for _, a := range testkit.Elements(doc, "a") {
		if href := testkit.Attribute(a, "href"); !strings.HasPrefix(href, "#") && !slices.Contains(allowed, href) {
			t.Errorf("links to %s", href)
		}
	}
	if !strings.Contains(page, "default-src 'none'") {
		t.Error("nothing forbids the browser to fetch")
	}
}

func TestEveryLinkInsideThePageLeadsSomewhere(t *testing.T) {
	_, doc := rendered(t, testkit.EtcdPauseRun())
	ids := map[string]int{}
	for _, e := range testkit.Elements(doc) {
		if id := testkit.Attribute(e, "id"); id != "" {
			ids[id]++
		}
	}
	for id, count := range ids {
		if count > 1 {
			t.Errorf("the id %s is given %d times", id, count)
		}
	}
	for _, a := range testkit.Elements(doc, "a") {
		if id, ok := strings.CutPrefix(testkit.Attribute(a, "href"), "#"); ok && ids[strings.ReplaceAll(id, "%3d", "=")] == 0 {
			t.Errorf("#%s leads nowhere", id)
		}
	}
	if ids["v=stale-write-1"] != 1 || ids["v=mutual-exclusion-3"] != 1 {
		t.Errorf("findings cannot be linked to: %v", ids)
	}
}

func TestEachFindingCanBeReadWithoutScripts(t *testing.T) {
	_, doc := rendered(t, testkit.EtcdPauseRun())
	found := 0
	for _, d := range testkit.Elements(doc, "details") {
		if testkit.Attribute(d, "class") != "finding" {
			continue
		}
		found++
		phrase := testkit.Text(d)
		for _, want := range []string{"was paused: all of its threads were seen stopped.", "superseded 0.84 s before: accepted.", "with 1.86 s of its lease left"} {
			if !strings.Contains(phrase, want) {
				t.Errorf("%s does not say %q", testkit.Attribute(d, "id"), want)
			}
		}
		drawings := testkit.Elements(d, "svg")
		if len(drawings) != 1 || testkit.Attribute(drawings[0], "aria-label") == "" {
			t.Fatalf("%s has %d drawings with names", testkit.Attribute(d, "id"), len(drawings))
		}
		for _, want := range []string{"hold older", "hold newer", "fault suspect", "clash", "step"} {
			if !slices.ContainsFunc(testkit.Elements(drawings[0]), func(e *html.Node) bool { return testkit.Attribute(e, "class") == want }) {
				t.Errorf("%s: nothing is drawn for %q", testkit.Attribute(d, "id"), want)
			}
		}
		if len(testkit.Elements(d, "table")) == 0 {
			t.Errorf("%s has no table beside its picture", testkit.Attribute(d, "id"))
		}
	}
	if found != 6 {
		t.Errorf("%d of 6 findings are on the page", found)
	}
}

func TestTextOfAHistoryNeverBecomesMarkup(t *testing.T) {
	_, calm := rendered(t, testkit.EtcdPauseRun())
	tags := map[string]bool{}
	for _, e := range testkit.Elements(calm) {
		tags[e.Data] = true
	}
	for _, hostile := range []string{
		`<script>alert(1)</script>`, `</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`,
		`</title><b>`, `</svg><blink>`, `javascript:alert(1)`, `]]><!--`, "\u2028\u2029\x00", `{{.Plan}}`, `</style><u>`,
	} {
		t.Run(hostile, func(t *testing.T) {
			_, doc := rendered(t, testkit.HostileRun(hostile), windowLink{hostile, hostile, "porcupine-k1.html"})
			scripts := testkit.Elements(doc, "script")
			if want := 1 + len(pageScripts); len(scripts) != want {
				t.Errorf("%d scripts on the page, want %d", len(scripts), want)
			}
			for _, e := range testkit.Elements(doc) {
				if !tags[e.Data] {
					t.Errorf("a <%s> got in", e.Data)
				}
				for _, a := range e.Attr {
					if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") && a.Key == "href" {
						t.Errorf("<%s %s=%q> got in", e.Data, a.Key, a.Val)
					}
				}
			}
			var data svg.Timeline
			if err := json.Unmarshal([]byte(testkit.Text(scripts[0])), &data); err != nil {
				t.Fatalf("the data for the timeline is not JSON any more: %v", err)
			}
			if data.Holds.Rows == 0 || !strings.HasPrefix(data.Findings[0].Summary, hostile) {
				t.Error("the data lost the text")
			}
		})
	}
}

func TestScriptsShowTextAsText(t *testing.T) {
	for _, name := range pageScripts {
		script, err := pageFiles.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, way := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"} {
			if strings.Contains(string(script), way) {
				t.Errorf("%s uses %s", name, way)
			}
		}
	}
}

func TestReportsOfRunsInWhichLittleHappened(t *testing.T) {
	fault := &model.Fault{Op: 1, Name: "pause", Target: "n1", Role: "server", BeginNS: 1e9, EffectiveNS: 1e9}
	lone := model.Finding{ID: "liveness-1", Summary: "no client can get k1", AtNS: 5e9}
	for name, j := range map[string]rundir.Judgement{
		"nothing at all": {Result: &model.Result{Verdict: model.Inconclusive}, Model: &model.Model{}},
		"only faults":    {Result: &model.Result{Verdict: model.Inconclusive}, Model: &model.Model{Faults: []*model.Fault{fault, {Op: 2, Name: "kill", Target: "c1", Error: "no such process"}}, EndNS: 2e9}},
		"a finding that names nothing": {Result: &model.Result{Verdict: model.Violation, Properties: []model.Property{
			{Name: model.Liveness, Layer: model.LayerService, Verdict: model.Violation, Count: 1, Findings: []model.Finding{lone}}}},
			Model: &model.Model{EndNS: 6e9}},
		"a hold that never ended": {Result: &model.Result{Verdict: model.Pass}, Model: &model.Model{EndNS: 3e9,
			Holds: []*model.Hold{{ID: "h1", Key: "k", Client: "c1", InvokeNS: 1e9, DoneNS: 2e9, Outcome: history.OK}, {ID: "h2", Key: "k", Client: "c2", InvokeNS: 1e9, Outcome: history.Invoke}}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, doc := rendered(t, j)
			if strings.Contains(testkit.Text(testkit.Elements(doc, "script")[0]), "NaN") {
				t.Error("NaN in the data")
			}
			for _, e := range testkit.Elements(doc) {
				for _, a := range e.Attr {
					if a.Val == "NaN" || strings.Contains(a.Val, "+Inf") || e.Data == "rect" && strings.HasPrefix(a.Val, "-") && a.Key == "width" {
						t.Errorf("<%s %s=%q>", e.Data, a.Key, a.Val)
					}
				}
			}
		})
	}
}

func TestTwoReportsOfARunAreTheSame(t *testing.T) {
	first, _ := rendered(t, testkit.EtcdPauseRun())
	second, _ := rendered(t, testkit.EtcdPauseRun())
	if first != second {
		t.Error("two reports of one run differ")
	}
}

func TestThePageOfALongRunIsSmall(t *testing.T) {
	page, _ := rendered(t, testkit.LongRun())
	if len(page) > 2<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
}

// A client may write what it likes: each of these is in many stories.
func TestHugeTextsOfAHistoryDoNotMakeAHugePage(t *testing.T) {
	calm, _ := rendered(t, testkit.EtcdPauseRun())
	j, hostile := testkit.EtcdPauseRun(), testkit.HostileRun(strings.Repeat("huge ", 40_000))
	j.Model, j.Plan.TokensReason = hostile.Model, hostile.Plan.TokensReason
	for i := range j.Result.Properties {
		p, q := &j.Result.Properties[i], hostile.Result.Properties[i]
		p.Reason = q.Reason
		for k := range p.Findings {
			f, g := &p.Findings[k], q.Findings[k]
			f.Summary, f.Story, f.Cause.Text, f.Key = g.Summary, g.Story, g.Cause.Text, g.Key
		}
	}
	huge, _ := rendered(t, j)
	if len(huge) > 3*len(calm) {
		t.Errorf("the page grew from %d to %d bytes", len(calm), len(huge))
	}
}

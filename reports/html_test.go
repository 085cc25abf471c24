package reports

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// TestLook writes the report of the made-up run to the directory REPORT_LOOK, for eyes.
func TestLook(t *testing.T) {
	path := os.Getenv("REPORT_LOOK")
	if path == "" {
		t.Skip("REPORT_LOOK names no directory")
	}
	if err := (&Dir{path: path}).WriteReport(etcdPauseRun()); err != nil {
		t.Fatal(err)
	}
}

func rendered(t *testing.T, j Judgement, windows ...windowLink) (string, *html.Node) {
	t.Helper()
	var out strings.Builder
	if err := renderPage(&out, j, "20260101T010203-etcd-lock-pause-7", windows); err != nil {
		t.Fatal(err)
	}
	doc, err := html.ParseWithOptions(strings.NewReader(out.String()), html.ParseOptionEnableScripting(false)) // noscript is a part of the page
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), doc
}

func elements(n *html.Node, tag string) []*html.Node {
	var found []*html.Node
	for node := range n.Descendants() {
		if node.Type == html.ElementNode && (tag == "" || node.Data == tag) {
			found = append(found, node)
		}
	}
	return found
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func text(n *html.Node) string {
	var out strings.Builder
	for node := range n.Descendants() {
		if node.Type == html.TextNode {
			out.WriteString(node.Data)
		}
	}
	return out.String()
}

func TestThePageNeedsNothingElse(t *testing.T) {
	page, doc := rendered(t, etcdPauseRun(), windowLink{"lock-linearizability", "k1", "porcupine-k1.html"})
	outside := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9]|url\((?:[^#)]|$)|@import|fetch\(|XMLHttpRequest|import\(`)
	for _, line := range strings.Split(page, "\n") {
		code, _, _ := strings.Cut(line, " // ") // a comment fetches nothing
		if hit := outside.FindString(code); hit != "" {
			t.Errorf("reaches out with %q: %.120s", hit, line)
		}
	}
	for _, tag := range []string{"link", "img", "iframe", "object", "embed", "base", "form"} {
		if found := elements(doc, tag); len(found) > 0 {
			t.Errorf("the page has a <%s>", tag)
		}
	}
	for _, script := range elements(doc, "script") {
		if src := attribute(script, "src"); src != "" {
			t.Errorf("script from %s", src)
		}
	}
	allowed := []string{"plan.json", "history.jsonl", "resource.jsonl", "results.json", "nodes/", "porcupine-k1.html"}
	for _, a := range elements(doc, "a") {
		if href := attribute(a, "href"); !strings.HasPrefix(href, "#") && !slices.Contains(allowed, href) {
			t.Errorf("links to %s", href)
		}
	}
	if !strings.Contains(page, "default-src 'none'") {
		t.Error("nothing forbids the browser to fetch")
	}
}

func TestEveryLinkInsideThePageLeadsSomewhere(t *testing.T) {
	_, doc := rendered(t, etcdPauseRun())
	ids := map[string]int{}
	for _, e := range elements(doc, "") {
		if id := attribute(e, "id"); id != "" {
			ids[id]++
		}
	}
	for id, count := range ids {
		if count > 1 {
			t.Errorf("the id %s is given %d times", id, count)
		}
	}
	for _, a := range elements(doc, "a") {
		if id, ok := strings.CutPrefix(attribute(a, "href"), "#"); ok && ids[strings.ReplaceAll(id, "%3d", "=")] == 0 {
			t.Errorf("#%s leads nowhere", id)
		}
	}
	if ids["v=stale-write-1"] != 1 || ids["v=mutual-exclusion-3"] != 1 {
		t.Errorf("findings cannot be linked to: %v", ids)
	}
}

func TestEachFindingCanBeReadWithoutScripts(t *testing.T) {
	_, doc := rendered(t, etcdPauseRun())
	found := 0
	for _, d := range elements(doc, "details") {
		if attribute(d, "class") != "finding" {
			continue
		}
		found++
		words := text(d)
		for _, want := range []string{"was paused: all of its threads were seen stopped.", "superseded 0.84 s before: accepted.", "with 1.86 s of its lease left"} {
			if !strings.Contains(words, want) {
				t.Errorf("%s does not say %q", attribute(d, "id"), want)
			}
		}
		drawings := elements(d, "svg")
		if len(drawings) != 1 || attribute(drawings[0], "aria-label") == "" {
			t.Fatalf("%s has %d drawings with names", attribute(d, "id"), len(drawings))
		}
		for _, want := range []string{"hold older", "hold newer", "fault", "clash", "step"} {
			if !slices.ContainsFunc(elements(drawings[0], ""), func(e *html.Node) bool { return attribute(e, "class") == want }) {
				t.Errorf("%s: nothing is drawn for %q", attribute(d, "id"), want)
			}
		}
		if len(elements(d, "table")) == 0 {
			t.Errorf("%s has no table beside its picture", attribute(d, "id"))
		}
	}
	if found != 6 {
		t.Errorf("%d of 6 findings are on the page", found)
	}
}

// hostileRun has the given text in every string that a history, a plan or a finding can carry.
func hostileRun(text string) Judgement {
	j := etcdPauseRun()
	poison(reflect.ValueOf(&j.Plan).Elem(), text)
	poison(reflect.ValueOf(j.Result).Elem(), text)
	poison(reflect.ValueOf(j.Model).Elem(), text)
	// Names that the report looks up stay as they are, so that the page shows everything it can show.
	j.Result.Verdict = checker.Violation
	original := etcdPauseRun()
	for i := range j.Result.Properties {
		p, q := &j.Result.Properties[i], original.Result.Properties[i]
		p.Name, p.Layer, p.Verdict = q.Name, q.Layer, q.Verdict
		for k := range p.Findings {
			p.Findings[k].Holds = q.Findings[k].Holds
		}
	}
	for i, h := range j.Model.Holds {
		h.ID, h.Outcome = original.Model.Holds[i].ID, original.Model.Holds[i].Outcome
	}
	for i := range j.Model.Requests.Len() {
		r, q := j.Model.Requests.At(i), original.Model.Requests.At(i)
		r.Hold, r.Kind, r.Outcome = q.Hold, q.Kind, q.Outcome
		j.Model.Requests.Set(i, r)
	}
	return j
}

func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			poison(v.Field(i), text)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text)
		}
	case reflect.Map:
		switch elem := v.Type().Elem(); {
		case v.IsNil() || v.Type().Key().Kind() != reflect.String:
		case elem.Kind() == reflect.String:
			v.SetMapIndex(reflect.ValueOf(text), reflect.ValueOf(text))
		case elem == reflect.TypeFor[[]string]():
			v.SetMapIndex(reflect.ValueOf(text), reflect.ValueOf([]string{text}))
		}
	case reflect.String:
		v.SetString(text + v.String())
	}
}

func TestTextOfAHistoryNeverBecomesMarkup(t *testing.T) {
	_, calm := rendered(t, etcdPauseRun())
	tags := map[string]bool{}
	for _, e := range elements(calm, "") {
		tags[e.Data] = true
	}
	for _, hostile := range []string{
		`<script>alert(1)</script>`, `</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`,
		`</title><b>`, `</svg><blink>`, `javascript:alert(1)`, `]]><!--`, "\u2028\u2029\x00", `{{.Plan}}`, `</style><u>`,
	} {
		t.Run(hostile, func(t *testing.T) {
			_, doc := rendered(t, hostileRun(hostile), windowLink{hostile, hostile, "porcupine-k1.html"})
			scripts := elements(doc, "script")
			if want := 1 + len(pageScripts); len(scripts) != want {
				t.Errorf("%d scripts on the page, want %d", len(scripts), want)
			}
			for _, e := range elements(doc, "") {
				if !tags[e.Data] {
					t.Errorf("a <%s> got in", e.Data)
				}
				for _, a := range e.Attr {
					if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") && a.Key == "href" {
						t.Errorf("<%s %s=%q> got in", e.Data, a.Key, a.Val)
					}
				}
			}
			var data timeline
			if err := json.Unmarshal([]byte(text(scripts[0])), &data); err != nil {
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
	fault := &checker.Fault{Op: 1, Name: "pause", Target: "n1", Role: "server", BeginNS: 1e9, EffectiveNS: 1e9}
	lone := checker.Finding{ID: "liveness-1", Summary: "nobody can get k1", AtNS: 5e9}
	for name, j := range map[string]Judgement{
		"nothing at all": {Result: &checker.Result{Verdict: checker.Inconclusive}, Model: &checker.Model{}},
		"only faults":    {Result: &checker.Result{Verdict: checker.Inconclusive}, Model: &checker.Model{Faults: []*checker.Fault{fault, {Op: 2, Name: "kill", Target: "c1", Error: "no such process"}}, EndNS: 2e9}},
		"a finding that names nothing": {Result: &checker.Result{Verdict: checker.Violation, Properties: []checker.Property{
			{Name: checker.Liveness, Layer: checker.LayerLiveness, Verdict: checker.Violation, Count: 1, Findings: []checker.Finding{lone}}}},
			Model: &checker.Model{EndNS: 6e9}},
		"a hold that never ended": {Result: &checker.Result{Verdict: checker.Pass}, Model: &checker.Model{EndNS: 3e9,
			Holds: []*checker.Hold{{ID: "h1", Key: "k", Client: "c1", InvokeNS: 1e9, DoneNS: 2e9, Outcome: history.OK}, {ID: "h2", Key: "k", Client: "c2", InvokeNS: 1e9, Outcome: history.Invoke}}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, doc := rendered(t, j)
			if strings.Contains(text(elements(doc, "script")[0]), "NaN") {
				t.Error("NaN in the data")
			}
			for _, e := range elements(doc, "") {
				for _, a := range e.Attr {
					if a.Val == "NaN" || strings.Contains(a.Val, "+Inf") || e.Data == "rect" && strings.HasPrefix(a.Val, "-") && a.Key == "width" {
						t.Errorf("<%s %s=%q>", e.Data, a.Key, a.Val)
					}
				}
			}
		})
	}
}

func TestALongRunIsThinnedOutButNoFindingIs(t *testing.T) {
	j := etcdPauseRun()
	const holds = 60_000
	j.Model.EndNS = 3600 * sec
	for i := range int64(holds) {
		at := 24*sec + i*(3500*sec/holds)
		h := &checker.Hold{ID: fmt.Sprint("x", i), Key: "k1", Client: fmt.Sprint("c", i%5+1), Token: fmt.Sprint(i), InvokeNS: at, DoneNS: at, BelievedNS: at + 5e6, ReleaseNS: at + 5e6, Outcome: history.OK}
		j.Model.Holds = append(j.Model.Holds, h)
		j.Model.Requests.Append(history.Request{Seq: i + 1000, Key: "k1", Kind: history.KindWrite, Hold: h.ID, Outcome: history.Applied, TimeNS: at})
	}
	limits := defaultLimits
	limits.holds, limits.writes = 20_000, 20_000
	line := newTimelineWithin(j, newIndex(j), limits)
	if len(line.holds) > limits.holds+100 || len(line.writes) > limits.writes+100 {
		t.Errorf("%d holds and %d writes are embedded", len(line.holds), len(line.writes))
	}
	var all, named, writes int64
	for _, h := range line.holds {
		all += max(h.count, 1)
		if h.part != partNone {
			named++
		}
	}
	for _, w := range line.writes {
		writes += max(w.count, 1)
	}
	if all != int64(len(j.Model.Holds)) || writes != int64(j.Model.Requests.Len()) {
		t.Errorf("blocks stand for %d of %d holds and %d of %d writes", all, len(j.Model.Holds), writes, j.Model.Requests.Len())
	}
	if named != 6 || len(line.Findings) != 6 {
		t.Errorf("%d of 6 named holds and %d of 6 findings are left", named, len(line.Findings))
	}
	if len(line.LeftOut) == 0 {
		t.Error("nothing says that it was simplified")
	}
	page, _ := rendered(t, j)
	if len(page) > 2<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
}

func TestRejectedWritesAreListed(t *testing.T) {
	j := etcdPauseRun()
	for i := range j.Model.Requests.Len() {
		if i%2 == 0 {
			q := j.Model.Requests.At(i)
			q.Outcome, q.Mark = history.Rejected, "9999"
			j.Model.Requests.Set(i, q)
		}
	}
	first, all := rejectedWrites(j.Model)
	if want := int64(j.Model.Requests.Len()+1) / 2; all != want || len(first) != int(min(want, maxRejected)) {
		t.Errorf("%d of %d rejected writes are counted, %d listed", all, want, len(first))
	}
	page, _ := rendered(t, j)
	if got := strings.Count(page, ">9999</td>"); got != len(first) {
		t.Errorf("%d of %d are on the page", got, len(first))
	}
	shown := summary(t, j, SummaryOptions{})
	if !strings.Contains(shown, "wrote k1 with token 34 after token 9999") || strings.Count(shown, "\nrejected ") != maxRejectedLines {
		t.Errorf("the terminal says\n%s", shown)
	}
}

func TestTwoReportsOfARunAreTheSame(t *testing.T) {
	first, _ := rendered(t, etcdPauseRun())
	second, _ := rendered(t, etcdPauseRun())
	if first != second {
		t.Error("two reports of one run differ")
	}
}

func TestAxis(t *testing.T) {
	a := axis{from: 1e9, to: 3e9, x0: 100, x1: 300}
	if a.x(2e9) != 200 || a.x(0) != 100 || a.x(9e9) != 300 {
		t.Error("time is bent or leaves the drawing")
	}
	for _, length := range []int64{1, 1000, 3e6, 7e9, 3600e9} {
		a := axis{from: 5, to: 5 + length, x0: 0, x1: 1}
		labels := map[string]bool{}
		ticks := a.ticks(10)
		for _, tick := range ticks {
			labels[tick.label] = true
		}
		if len(ticks) > 11 || len(labels) != len(ticks) {
			t.Errorf("%d ns: ticks %v", length, ticks)
		}
	}
}

// A client may write what it likes: each of these is in many stories.
func TestHugeTextsOfAHistoryDoNotMakeAHugePage(t *testing.T) {
	calm, _ := rendered(t, etcdPauseRun())
	j, hostile := etcdPauseRun(), hostileRun(strings.Repeat("huge ", 40_000))
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

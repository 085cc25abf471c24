package hunt

import (
	"fmt"
	"slices"
	"strings"

	"lockcheck/checker"
	"lockcheck/checker/coverage"
	"lockcheck/checker/explain"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/cmd/internal/harness"
	"lockcheck/reports/rundir"
	"lockcheck/reports/words"
)

// Service are the promises of a lock service and its client. Belief is none: no lease keeps a paused holder from it.
func Service() []model.Name {
	return properties(func(p checker.Description) bool { return p.Layer == model.LayerService })
}

// Harm is what reaches the data.
func Harm() []model.Name {
	return properties(func(p checker.Description) bool { return p.Layer == model.LayerHarm })
}

func properties(are func(checker.Description) bool) (names []model.Name) {
	for _, p := range checker.Properties() {
		if are(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

// OutcomeOf reads what a run directory teaches a hunt for violations of these properties.
func OutcomeOf(dir string, wanted []model.Name) Outcome {
	o := Outcome{Dir: dir}
	j, shapes, err := judge(dir, wanted)
	if err != nil {
		return barren(o, err.Error())
	}
	return OutcomeFrom(o, j.Result, j.Model, wanted, shapes)
}

// OutcomeFrom is what the verdicts of a run and its recording teach. shape is that of the witness of a finding, by its ID.
func OutcomeFrom(o Outcome, r *model.Result, m *model.Model, wanted []model.Name, shape func(finding string) string) Outcome {
	o.Verdict = r.Verdict
	o.Finds = findsOf(r, m.Plan, wanted, shape)
	if o.Verdict == model.Inconclusive && len(o.Finds) == 0 {
		return barren(o, r.Reason)
	}
	for _, margin := range coverage.Margins(m) {
		if slices.Contains(wanted, margin.Property) && (margin.Property != model.TokenMonotonicity || margin.By <= 0) { // tokens one apart are not close to a violation
			o.Margins = append(o.Margins, Margin{margin.Property, margin.By})
		}
	}
	c := coverage.Of(m)
	for t, n := range c.Transitions {
		o.Features = append(o.Features, fmt.Sprintf("%s ×%d", t, coverage.Bucket(n)))
	}
	for order, n := range c.Orders {
		o.Features = append(o.Features, fmt.Sprintf("%s ×%d", order, coverage.Bucket(n)))
	}
	slices.Sort(o.Features)
	return o
}

func barren(o Outcome, why string) Outcome {
	o.Barren, _, _ = strings.Cut(why, "\n")
	return o
}

// FindsOf reads the violations of these properties in a run directory, each signature once.
func FindsOf(dir string, wanted []model.Name) ([]Find, error) {
	j, shapes, err := judge(dir, wanted)
	if err != nil {
		return nil, err
	}
	return findsOf(j.Result, j.Plan, wanted, shapes), nil
}

// judge judges a run directory, and looks for the shapes of its findings.
func judge(dir string, wanted []model.Name) (j rundir.Judgement, shapes func(finding string) string, err error) {
	d, err := rundir.Open(dir)
	if err != nil {
		return j, nil, err
	}
	if j, err = harness.Judge(d, checker.Options{}); err != nil {
		return j, nil, err
	}
	shapes, err = shapesOf(d, j, wanted)
	return j, shapes, err
}

// shapesOf looks for the witnesses of all findings of these properties, and returns their shapes. The run's directory has witnesses of a few only:
// behind many findings of one shape there may be one of another.
func shapesOf(d *rundir.Dir, j rundir.Judgement, wanted []model.Name) (func(finding string) string, error) {
	shapes := map[string]string{}
	some := *j.Result
	for from := 0; ; from += explain.MaxWitnesses {
		some.Properties = nil
		for _, p := range j.Result.Properties {
			if slices.Contains(wanted, p.Name) && len(p.Findings) > from {
				p.Findings = p.Findings[from:]
				some.Properties = append(some.Properties, p)
			}
		}
		if len(some.Properties) == 0 {
			return func(finding string) string { return shapes[finding] }, nil
		}
		witnesses, err := checker.Witnesses(d.Reread(j.Plan), &some, j.Model, checker.Options{FailedAs: j.Result.OutcomeReading.FailedAs})
		if err != nil {
			return nil, err
		}
		for _, w := range witnesses {
			shapes[w.Finding] = shape(w.Events)
		}
	}
}

func findsOf(r *model.Result, plan history.Plan, wanted []model.Name, shape func(finding string) string) (finds []Find) {
	for _, p := range r.Properties {
		if p.Verdict != model.Violation || !slices.Contains(wanted, p.Name) {
			continue
		}
		for _, f := range p.Findings {
			alone := p
			alone.Findings = []model.Finding{f}
			find := Find{Property: p.Name, Party: words.Party(plan, &alone), Shape: shape(f.ID),
				Summary: f.Summary, Cause: f.Cause.Kind, Finding: f.ID}
			find.Signature, find.Times = signature(find), 1
			if i := slices.IndexFunc(finds, func(other Find) bool { return other.Signature == find.Signature }); i >= 0 {
				finds[i].Times++
			} else {
				finds = append(finds, find)
			}
		}
	}
	return finds
}

// signature names a kind of find: "early-expiry by etcd: acquire, write | acquire".
func signature(f Find) string {
	text := string(f.Property)
	if f.Party != "" {
		text += " by " + f.Party
	}
	if f.Shape != "" {
		text += ": " + f.Shape
	}
	return text
}

// shape is what each client did in a reduced witness, without names, times, faults and the order between clients: "acquire, write | acquire".
// Deaths and lost locks are left out, and releases with which a client ends: whether the run lasted until then decides about these. Two finds
// of one property, party and shape are one find. It is empty where a finding has no witness.
func shape(witness []history.Event) string {
	steps := map[string][]string{}
	for _, e := range witness {
		if e.Type == history.Invoke || e.Process == history.NemesisProcess || e.Process == history.HarnessProcess || !slices.Contains(shaping, e.F) {
			continue
		}
		step := string(e.F)
		if e.Type != history.OK {
			step += " " + string(e.Type)
		}
		if did := steps[e.Process]; len(did) == 0 || did[len(did)-1] != step {
			steps[e.Process] = append(did, step)
		}
	}
	var clients []string
	for _, did := range steps {
		if last := len(did) - 1; last > 0 && did[last] == string(history.Release) {
			did = did[:last]
		}
		clients = append(clients, strings.Join(did, ", "))
	}
	return strings.Join(withoutBystanders(clients), " | ")
}

// withoutBystanders leaves out, of more than two clients, those that did no more than the beginning of what another did: how many others had the
// lock in between differs from run to run. The order of clients does not count.
func withoutBystanders(clients []string) []string {
	slices.Sort(clients)
	for i := 0; i < len(clients) && len(clients) > 2; {
		began := slices.ContainsFunc(slices.Delete(slices.Clone(clients), i, i+1), func(other string) bool { return strings.HasPrefix(other+", ", clients[i]+", ") })
		if began {
			clients = slices.Delete(clients, i, i+1)
		} else {
			i++
		}
	}
	return clients
}

// shaping are the operations that a shape is made of.
var shaping = []history.F{history.Acquire, history.Release, history.Read, history.Write}

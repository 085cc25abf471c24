package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// MaxPlan bounds a plan.json: a day of a schedule, as densely as the nemesis has it, is some 50 MB.
const MaxPlan = 64 << 20

// ReadPlan reads and validates plan.json. File is the name that errors give, with the line where there is one; they are
// ErrMalformed unless r itself failed.
func ReadPlan(r io.Reader, file string) (Plan, error) {
	var p Plan
	data, err := io.ReadAll(io.LimitReader(r, MaxPlan+1))
	if err != nil {
		return p, &fileError{file, 0, err}
	}
	if len(data) > MaxPlan {
		return p, &fileError{file, 0, mistakef("longer than %d bytes: not a plan", MaxPlan)}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, &fileError{file, lineOf(data, err), notAsExpected("not a plan", err)}
	}
	if _, err := d.Token(); err != io.EOF {
		return p, &fileError{file, lineAt(data, d.InputOffset()), mistakef("something follows the plan")}
	}
	if err := cmp.Or(p.Validate(), p.checkFile(data)); err != nil {
		return p, &fileError{file, 0, err}
	}
	p.require()
	return p, nil
}

// WritePlan writes plan.json, indented for people.
func WritePlan(w io.Writer, p Plan) error {
	if err := p.Validate(); err != nil {
		return err
	}
	if p.Exposure == nil {
		p.Exposure = []Requirement{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(p)
}

// Names of what the packages that have it know more of. "" is in a plan that does not say it.
var (
	workloads = []string{"lock", "fencing", "jobs"}
	providers = []string{"local", "docker"}
)

// planNumber is a number in a plan, by the name of its field.
type planNumber struct {
	field string
	value int64
}

// counts are the numbers that may not be negative, and times those that may not be longer than maxPlanMS either.
func (p *Plan) counts() []planNumber {
	return []planNumber{{"nodes", int64(p.Nodes)}, {"fronts", int64(p.Fronts)}, {"clients", int64(p.Clients)}, {"keys", int64(p.Keys)}, {"load_ended_ns", p.LoadEndedNS}}
}

func (p *Plan) times() []planNumber {
	return []planNumber{{"time_limit_ms", p.TimeLimitMS}, {"ttl_ms", p.TTLMS}, {"effective_ttl_ms", p.EffectiveMS}, {"election_ms", p.ElectionMS},
		{"grace_ms", p.GraceMS}, {"lock_delay_ms", p.LockDelayMS}, {"drift_ms", p.DriftMS}, {"retry_ms", p.RetryMS}}
}

// nemeses are the names that a nemesis can begin with.
func nemeses() []string {
	names := []string{NoNemesis}
	for _, f := range faults {
		names = append(names, string(f.Name))
	}
	return names
}

// checkFile refuses what the plan of no run can have in its file. A field that is left out says nothing.
func (p *Plan) checkFile(file []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(file, &fields); err != nil {
		return notAsExpected("not a plan", err)
	}
	given := func(name string) bool { return fields[name] != nil && string(fields[name]) != "null" }
	for _, n := range []planNumber{{"clients", int64(p.Clients)}, {"keys", int64(p.Keys)}, {"ttl_ms", p.TTLMS}, {"effective_ttl_ms", p.EffectiveMS}, {"time_limit_ms", p.TimeLimitMS}} {
		if given(n.field) && n.value < 1 {
			return mistakef("the plan's %s is %d: a run has at least 1", n.field, n.value)
		}
	}
	first, _, _ := strings.Cut(p.Nemesis, ";")
	first, _, _ = strings.Cut(first, ",")
	for _, n := range []struct {
		field, value, named string
		known               []string
	}{
		{"workload", p.Workload, p.Workload, workloads}, {"guard", p.Guard, p.Guard, GuardNames()},
		{"provider", p.Provider, p.Provider, providers}, {"nemesis", p.Nemesis, kindOf(first), nemeses()},
	} {
		if given(n.field) && !slices.Contains(n.known, n.named) {
			return mistakef("the plan's %s is %.100q; known are %s", n.field, n.value, list(n.known))
		}
	}
	return p.checkSchedule()
}

// maxPlanMS is some two years, and ten of them in nanoseconds are still a number (see Bound).
const maxPlanMS = 1 << 36

// Validate says what is wrong with a plan; the error is an ErrMalformed.
func (p *Plan) Validate() error {
	worths := []Tokens{TokensOrdered, TokensNone}
	switch {
	case p.Version != FormatVersion:
		return mistakef("the plan's version is %d; this lockcheck reads version %d", p.Version, FormatVersion)
	case !slices.Contains(worths, p.Tokens):
		return mistakef("the plan's tokens are %q; known are %s", p.Tokens, list(worths))
	case p.Release != "" && p.Release != ReleaseChecked && p.Release != ReleaseUnchecked:
		return mistakef("the plan's release is %q; known are %s, %s", p.Release, ReleaseChecked, ReleaseUnchecked)
	case p.LeaseClock != "" && !slices.Contains(leaseClocks, p.LeaseClock):
		return mistakef("the plan's lease_clock is %q; known are %s", p.LeaseClock, list(leaseClocks))
	}
	for _, n := range slices.Concat(p.counts(), p.times()) {
		if n.value < 0 {
			return mistakef("the plan's %s is %d: it may not be negative", n.field, n.value)
		}
	}
	for _, n := range p.times() {
		if n.value > maxPlanMS {
			return mistakef("the plan's %s is %d: longer than %d ms", n.field, n.value, int64(maxPlanMS))
		}
	}
	switch {
	case p.LoadEndedNS > MaxNS:
		return mistakef("the plan's load_ended_ns is %d, larger than %d", p.LoadEndedNS, int64(MaxNS))
	case p.Fronts > 0 && p.Fronts >= p.Nodes:
		return mistakef("the plan's fronts are %d of %d nodes: one server at least keeps the service's data", p.Fronts, p.Nodes)
	case p.Attached != nil && p.Attached.MaxRate < 0:
		return mistakef("the plan's attached.max_rate is %d: it may not be negative", p.Attached.MaxRate)
	}
	if p.Workload != "" && !slices.Contains(workloads, p.Workload) {
		return mistakef("the plan's workload is %q; known are %s", p.Workload, list(workloads))
	}
	for _, r := range p.Exposure {
		if r.Name == "" || r.Min < 0 {
			return mistakef("the plan requires exposure %q at least %d times: a name and a number from 0 are needed", r.Name, r.Min)
		}
	}
	if err := p.validateResource(); err != nil {
		return err
	}
	if err := p.validateJobs(); err != nil {
		return err
	}
	if err := p.Work.validate(); err != nil {
		return err
	}
	return p.Excerpt.validate()
}

// lineOf places a JSON error in its file.
func lineOf(data []byte, err error) int64 {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return lineAt(data, syntax.Offset)
	case errors.As(err, &wrong):
		return lineAt(data, wrong.Offset)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return lineAt(data, int64(len(data)))
	}
	if name := unknownField(err); name != "" {
		return lineOfField(data, name)
	}
	return 0
}

func lineAt(data []byte, offset int64) int64 {
	offset = min(max(offset, 0), int64(len(data)))
	return 1 + int64(bytes.Count(data[:offset], []byte("\n")))
}

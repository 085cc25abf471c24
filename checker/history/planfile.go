package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
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
	if err := p.Validate(); err != nil {
		return p, &fileError{file, 0, err}
	}
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

// workloads are the names that a plan's workload can have; "" in one that does not say it.
var workloads = []string{"lock", "fencing", "jobs"}

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
	case p.Workload != "" && !slices.Contains(workloads, p.Workload):
		return mistakef("the plan's workload is %q; known are %s", p.Workload, list(workloads))
	case min(p.Nodes, p.Clients, p.Keys) < 0:
		return mistakef("the plan has %d servers, %d clients and %d keys: no number may be negative", p.Nodes, p.Clients, p.Keys)
	case min(p.TimeLimitMS, p.TTLMS, p.EffectiveMS, p.ElectionMS, p.GraceMS, p.LockDelayMS, p.DriftMS, p.RetryMS) < 0:
		return mistakef("a time in the plan is negative")
	case max(p.TimeLimitMS, p.TTLMS, p.EffectiveMS, p.ElectionMS, p.GraceMS, p.LockDelayMS, p.DriftMS, p.RetryMS) > maxPlanMS:
		return mistakef("a time in the plan is longer than %d ms", int64(maxPlanMS))
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

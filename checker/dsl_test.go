package checker

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Histories in tests are text, one line an event:
//
//	1.50 c1 acquire h1            c1 asks for the lock under hold h1 (of key k, unless it says key=)
//	1.60 c1 acquire:ok h1 token=33 session=s1 seen=1.55
//	1.60 c1 lease:ok session=s1 ttl=2 seen=1.52      (lease:fail: the server said it is gone)
//	1.70 c1 write h1 value=a base=b
//	1.71 @ write h1               the resource handles the newest write of h1 (rejected, duplicate: another outcome;
//	                              nth=1 an older request of h1; first=5: it was answered as request 5)
//	1.75 c1 remove:ok h1 value=s0 seen=1.72   (acquiring, it removed the record of session s0)
//	1.80 c1 lost session=s1       1.80 c1 close         1.90 c1 exit h1 held=1.75
//	2.00 nemesis pause:invoke 1 target=c1 (pause:ok, pause:heal, pause:healed; by=90 clock=wall)
//	2.00 harness phase final      2.00 harness stall from=1.0      2.00 harness clock-step from=1.9 by=-0.5
//	2.00 harness probe:invoke 7   (probe:ok, probe:info)
//
// A line "tested" stands for two clients that hold, confirm, read and write a lock of their own (t) in turn before the first second, so that
// every property has something to judge; "tested fenced" with their tokens. Times are seconds. The register's initial value is the empty one; what a read finds is worked out. A line "final"
// stands for a final phase in which two fresh sessions get the lock.
type script struct {
	t        *testing.T
	events   []history.Event
	requests []history.Request
	ops      map[string][]int64 // F and hold -> operations
	keys     map[string]string  // of holds
	writes   map[int64]history.Event
	register map[string]string
	found    map[int64]string // by reads
	nextOp   int64
}

func ns(seconds string) int64 {
	f, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		panic(err)
	}
	return int64(f*1e9 + 0.5)
}

func plainPlan() history.Plan {
	return history.Plan{Version: history.FormatVersion, Backend: "etcd", Workload: "lock", Nemesis: "pause", Nodes: 1, TTLMS: 2000, EffectiveMS: 2000,
		Tokens: history.TokensOrdered, SameKernel: true}
}

func fencedPlan() history.Plan {
	p := plainPlan()
	p.Workload, p.Fenced = "fencing", true
	return p
}

func casPlan() history.Plan {
	p := untokened()
	p.Resource = history.ResourceCAS
	return p
}

func parse(t *testing.T, text string) (events []history.Event, requests []history.Request) {
	t.Helper()
	s := &script{t: t, ops: map[string][]int64{}, keys: map[string]string{}, writes: map[int64]history.Event{}, register: map[string]string{}, found: map[int64]string{}}
	if !strings.Contains(text, "phase load") {
		text = "0 harness phase load\n" + text
	}
	last := "0"
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if words[0] == "tested" {
			s.tested(len(words) > 1)
			continue
		}
		if words[0] == "final" {
			s.finalPhase(last)
			continue
		}
		last = words[0]
		s.line(words)
	}
	if !strings.Contains(text, "phase end") && !strings.Contains(text, "cut") {
		at := s.events[len(s.events)-1].TimeNS
		s.event(history.Event{TimeNS: at, Process: "harness", Type: history.Info, F: history.Phase, Value: history.PhaseEnd})
	}
	return s.events, s.requests
}

// tested is what the line of that name stands for.
func (s *script) tested(fenced bool) {
	for i, base := range []string{"", " base=t1"} {
		shown := ""
		if fenced {
			shown = fmt.Sprint(" token=", i+1)
		}
		s.at(0.1+0.4*float64(i), strings.NewReplacer("HOLD", fmt.Sprint("t", i+1), "TOKEN", fmt.Sprint(i+1), "SHOWN", shown, "BASE", base, "HELD", fmt.Sprint(0.19+0.4*float64(i))).Replace(`
0.00 HOLD acquire HOLD key=t
0.01 HOLD acquire:ok HOLD token=TOKEN
0.02 HOLD read HOLD
0.03 @ read HOLDSHOWN
0.04 HOLD read:ok HOLD
0.05 HOLD write HOLD value=HOLDBASE
0.06 @ write HOLDSHOWN
0.07 HOLD write:ok HOLD
0.10 HOLD release HOLD
0.11 HOLD release:ok HOLD held=HELD`))
	}
}

func (s *script) finalPhase(last string) {
	at, err := strconv.ParseFloat(last, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	s.at(at+1, `
0.0 harness phase heal
0.0 harness phase final
0.0 harness probe:invoke 901
0.1 harness probe:ok 901`)
	s.at(at+1.2, freshHolds("f", "k"))
	if s.keys["t1"] == "t" {
		s.at(at+2, freshHolds("u", "t"))
	}
}

// freshHolds are those of two fresh sessions that get a lock.
func freshHolds(names, key string) string {
	return strings.NewReplacer("f", names, "KEY", key).Replace(`
0.0 f1 acquire f1 key=KEY
0.1 f1 acquire:ok f1 token=1000001 session=f1
0.2 f1 release f1
0.3 f1 release:ok f1 owned=true
0.4 f2 acquire f2 key=KEY
0.5 f2 acquire:ok f2 token=1000002 session=f2
0.6 f2 release f2
0.7 f2 release:ok f2 owned=true`)
}

// at has the lines of a text at times after a moment.
func (s *script) at(moment float64, text string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		words := strings.Fields(line)
		offset, _ := strconv.ParseFloat(words[0], 64)
		words[0] = fmt.Sprint(moment + offset)
		s.line(words)
	}
}

func (s *script) event(e history.Event) {
	e.Index = int64(len(s.events))
	s.events = append(s.events, e)
}

func (s *script) line(words []string) {
	s.t.Helper()
	if words[0] == "cut" {
		return
	}
	at, who, what := ns(words[0]), words[1], words[2]
	args, fields := []string{}, map[string]string{}
	for _, w := range words[3:] {
		if name, value, ok := strings.Cut(w, "="); ok {
			fields[name] = value
		} else {
			args = append(args, w)
		}
	}
	f, kind, _ := strings.Cut(what, ":")
	switch who {
	case "@":
		s.request(at, f, args, fields)
	case "harness":
		s.mark(at, f, kind, args, fields)
	case "nemesis":
		op, _ := strconv.ParseInt(args[0], 10, 64)
		e := history.Event{TimeNS: at, Process: who, F: history.F(f), Op: 1_000_000 + op, Target: fields["target"], Role: fields["role"], Heal: strings.HasPrefix(kind, "heal"),
			Clock: history.Clock(fields["clock"]), Detail: strings.ReplaceAll(fields["detail"], "_", " "), AtOnce: fields["at_once"] != ""}
		e.Type = map[string]history.Type{"invoke": history.Invoke, "ok": history.OK, "fail": history.Fail, "heal": history.Invoke, "healed": history.OK}[kind]
		if e.Type == history.Fail {
			e.Error = "it had no verified effect"
		}
		if lag := fields["lag"]; lag != "" { // of a delay
			e.LagNS = ns(lag)
		}
		if by := fields["by"]; by != "" { // of a clock fault
			e.SkewNS = ns(by)
		}
		s.event(e)
	default:
		s.client(at, who, f, kind, args, fields)
	}
}

func (s *script) mark(at int64, f, kind string, args []string, fields map[string]string) {
	e := history.Event{TimeNS: at, Process: "harness", Type: history.Info, F: history.F(f)}
	switch e.F {
	case history.Probe:
		op, _ := strconv.ParseInt(args[0], 10, 64)
		e.Type, e.Op = history.Type(kind), 2_000_000+op
	case history.Stall:
		e.FromNS = ns(fields["from"])
	case history.ClockStep:
		e.FromNS, e.SkewNS = ns(fields["from"]), ns(fields["by"])
	default:
		e.Value = strings.TrimPrefix(args[0], "none") // leader none: there is none
	}
	s.event(e)
}

func (s *script) client(at int64, who, f, kind string, args []string, fields map[string]string) {
	client, _, _ := strings.Cut(who, ".")
	e := history.Event{TimeNS: at, Process: who, Client: client, F: history.F(f), Type: history.Info}
	if len(args) > 0 {
		e.Hold = args[0]
	}
	if f == "lease" {
		e.F = history.Renew
	}
	switch f {
	case "lease", "lost", "remove":
		if kind != "" {
			e.Type = history.Type(kind)
		}
	case "close":
		e.F, e.Type = history.Exit, history.Invoke
	case "exit", "silent":
	default:
		s.operation(&e, kind, fields)
	}
	for name, value := range fields {
		if !set(&e, name, value) {
			s.t.Fatalf("unknown field %q", name)
		}
	}
	if e.Type == history.OK && e.F == history.Read && e.Value == "" {
		e.Value = s.found[e.Op]
	}
	if e.Type == history.Invoke && e.F == history.Write {
		s.writes[e.Op] = e
	}
	s.event(e)
}

// set gives a field of an event its value; a time is written without the _ns of its name.
func set(e *history.Event, name, value string) bool {
	for field, v := range reflect.ValueOf(e).Elem().Fields() {
		known, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case known == name+"_ns":
			v.SetInt(ns(value))
		case known != name:
			continue
		case v.Kind() == reflect.Int64:
			n, _ := strconv.ParseInt(value, 10, 64)
			v.SetInt(n)
		case v.Kind() == reflect.Bool:
			v.SetBool(value == "true")
		case v.Kind() == reflect.Pointer:
			is := value == "true"
			v.Set(reflect.ValueOf(&is))
		default:
			v.SetString(value)
		}
		return true
	}
	return false
}

func (s *script) operation(e *history.Event, kind string, fields map[string]string) {
	name := string(e.F) + " " + e.Hold
	if kind == "" {
		s.nextOp++
		s.ops[name] = append(s.ops[name], s.nextOp)
		e.Type, e.Op = history.Invoke, s.nextOp
		if e.F == history.Acquire {
			e.Key = "k"
			if fields["key"] != "" {
				e.Key = fields["key"]
			}
			s.keys[e.Hold] = e.Key
		}
		return
	}
	e.Type, e.Op = history.Type(kind), s.op(name, fields)
	delete(fields, "nth")
}

func (s *script) op(name string, fields map[string]string) int64 {
	ops := s.ops[name]
	if len(ops) == 0 {
		s.t.Fatalf("no operation %q", name)
	}
	if nth := fields["nth"]; nth != "" {
		n, _ := strconv.Atoi(nth)
		return ops[n-1]
	}
	return ops[len(ops)-1]
}

func (s *script) request(at int64, f string, args []string, fields map[string]string) {
	hold := args[0]
	op := s.op(f+" "+hold, fields)
	q := history.Request{Seq: int64(len(s.requests) + 1), Request: fmt.Sprint(op), Key: s.keys[hold], Kind: history.Kind(f), Hold: hold,
		Token: fields["token"], Outcome: history.Applied, TimeNS: at, Mark: fields["mark"], First: fields["first"]}
	switch {
	case slices.Contains(args, "rejected"):
		q.Outcome = history.Rejected
	case slices.Contains(args, "duplicate"):
		q.Outcome = history.Duplicate
	}
	if q.Kind == history.KindWrite {
		q.Value, q.Base = s.writes[op].Value, s.writes[op].Base
		if q.Outcome == history.Applied {
			s.register[q.Key] = q.Value
		}
	} else if q.Outcome == history.Applied {
		q.Value = s.register[q.Key]
		s.found[op] = q.Value
	}
	s.requests = append(s.requests, q)
}

// record writes a script to files in memory and reads them back, so that every test goes through both.
func record(t *testing.T, plan history.Plan, text string) model.Recording {
	t.Helper()
	return recordingOf(t, plan, func() ([]history.Event, []history.Request) { return parse(t, text) })
}

func recordingOf(t testing.TB, plan history.Plan, make func() ([]history.Event, []history.Request)) model.Recording {
	t.Helper()
	events, requests := make()
	var h, r bytes.Buffer
	w := history.NewWriter(&h)
	for _, e := range events {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	w = history.NewWriter(&r)
	for _, q := range requests {
		if err := w.Request(q); err != nil {
			t.Fatal(err)
		}
	}
	return model.Recording{Plan: plan, Events: history.Events(&h, "history.jsonl"), Requests: history.Requests(&r, "resource.jsonl")}
}

// judgeText checks a script and returns what each property came to.
func judgeText(t *testing.T, plan history.Plan, text string) (*model.Result, *model.Model) {
	t.Helper()
	result, model, err := Check(record(t, plan, text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return result, model
}

func propertyOf(r *model.Result, name model.Name) model.Property {
	for _, p := range r.Properties {
		if p.Name == name {
			return p
		}
	}
	return model.Property{}
}

// violated are the properties that are violated or masked, with their counts: "mutual-exclusion:1 stale-write:2".
func namesViolated(r *model.Result) string {
	var words []string
	for _, p := range r.Properties {
		if p.Verdict == model.Violation || p.Verdict == model.Masked {
			words = append(words, fmt.Sprintf("%s:%d", p.Name, p.Count))
		}
	}
	return strings.Join(words, " ")
}

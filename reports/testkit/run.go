// Package testkit makes runs up, for tests of what is made of a run, reads pages without a browser, and has a terminal. A test that needs a run with more in it changes a copy.
package testkit

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/reports/rundir"
)

// Second is one of virtual time, in nanoseconds.
const Second = int64(1e9)

// EtcdPauseRun is a made-up run that looks like a real one: five clients share one lock for 20 s; every few seconds the
// holder is paused past its lease, wakes and writes. Only what reports draw is filled in.
func EtcdPauseRun() rundir.Judgement {
	rng := rand.New(rand.NewPCG(1, 2))
	plan := etcdPausePlan()
	b := &Builder{Model: &model.Model{Plan: plan, Sessions: map[string]*model.Session{}, Complete: true}, Token: 33}
	now, last, turn := int64(120e6), "", 0
	next := int64(1.8e9)
	for now < 20*Second {
		client := fmt.Sprintf("c%d", 1+turn%5)
		turn++
		work := 30e6 + rng.Int64N(90e6)
		if now > next {
			paused := b.Hold(client, "k1", now, now+3300e6)
			b.Fault("pause", client, "holder", now+40e6, 3100e6)
			paused.BelievedNS, paused.LeaseNS = now+3140e6, now+1900e6
			paused.ReleaseNS, paused.LostNS = 0, now+3150e6
			stolen := now + 2300e6
			other := fmt.Sprintf("c%d", 1+turn%5)
			turn++
			newer := b.Hold(other, "k1", stolen, stolen+1200e6)
			newer.InvokeNS = now - 20e6
			b.Write(newer, stolen+120e6, fmt.Sprintf("v%d", turn), last, history.Applied)
			late := b.Write(paused, now+3145e6, fmt.Sprintf("v%d", turn+1000), last, history.Applied)
			b.finding(paused, newer, late, now)
			now, next = stolen+1220e6, stolen+4000e6
			continue
		}
		h := b.Hold(client, "k1", now, now+work)
		value := fmt.Sprintf("v%d", turn)
		b.Write(h, now+work-5e6, value, last, history.Applied)
		last = value
		now += work + 4e6 + rng.Int64N(10e6)
	}
	b.Fault("pause", "n2", "server", 6900e6, 600e6)
	b.Model.Phases = []model.Mark{{TimeNS: 0, Value: "load"}, {TimeNS: 20 * Second, Value: "heal"}, {TimeNS: 21 * Second, Value: "final"}}
	b.Model.Stalls = []model.Span{{FromNS: 9900e6, ToNS: 9960e6}}
	b.Model.EndNS = 23 * Second
	b.Fault("clock", "n3", "server", 15e9, 1e9).SkewNS = -90e9
	b.Model.Series = madeUpSeries(b.Model)
	return rundir.Judgement{Plan: plan, Result: b.result(), Model: b.Model}
}

func etcdPausePlan() history.Plan {
	return history.Plan{
		Version: 1, Run: "20261120T171448-etcd-lock-pause-7", Backend: "etcd", LockClient: "etcd concurrency 3.7.3", Workload: "lock",
		Nemesis: "pause", Guard: "before-work", Provider: "local", Seed: 7, Nodes: 3, Clients: 5, Keys: 1, TimeLimitMS: 20000,
		TTLMS: 1000, EffectiveMS: 2000, ElectionMS: 1000, Tokens: history.TokensOrdered, SameKernel: true,
		Versions: map[string]string{"lockcheck": "0.1.0", "go": "1.26.8", "etcd": "3.7.3"},
		Settings: map[string]string{"election": "1000 ms", "heartbeat": "100 ms"},
		Host:     map[string]string{"kernel": "6.18.0", "cpus": "2"},
		Command:  []string{"lockcheck", "run", "--backend=etcd", "--nemesis=pause", "--seed=7", "--time-limit=20s"},
		Images:   []history.Image{{Use: "servers", Name: "etcd:v3.7.3", ID: "sha256:0aa1", Digest: "etcd@sha256:77fe"}, {Use: "clients", Name: "lockcheck/client:1", ID: "sha256:bb02"}},
		Expected: &history.Expected{From: "lockcheck.yaml:41", Reason: "a paused holder believes in its lock still", Verdicts: map[string][]string{
			"mutual-exclusion": {"violation"}, "stale-write": {"violation"}}},
		Steps: []string{"at 1.8 s: pause the holder for 3.1 s", "at 4.9 s: pause n2 for 0.6 s"},
	}
}

// result is what the checker might find in the run.
func (b *Builder) result() *model.Result {
	found := func(n model.Name, l model.Layer) model.Property {
		count := int64(len(b.findings[n])) // each is of another incident
		return model.Property{Name: n, Layer: l, Verdict: model.Violation, Count: count, Incidents: count, Findings: b.findings[n]}
	}
	pass := func(n model.Name, l model.Layer) model.Property {
		return model.Property{Name: n, Layer: l, Verdict: model.Pass}
	}
	return &model.Result{Verdict: model.Violation, Reason: "stale writes reached the resource", Incidents: int64(len(b.findings[model.StaleWrite])),
		Properties: []model.Property{
			found(model.MutualExclusion, model.LayerBelief),
			{Name: model.LockLinearizability, Layer: model.LayerService, Verdict: model.Pass, ConfirmedBy: "porcupine"},
			pass(model.EarlyExpiry, model.LayerService), pass(model.ReleaseByOwner, model.LayerService),
			pass(model.TokenMonotonicity, model.LayerService),
			found(model.StaleWrite, model.LayerHarm),
			{Name: model.LostUpdate, Layer: model.LayerHarm, Verdict: model.Inconclusive, Reason: "two updates have no known outcome"},
			{Name: model.ResourceLinearizability, Layer: model.LayerHarm, Verdict: model.NotApplicable, Reason: "no read was recorded"},
			pass(model.Liveness, model.LayerService),
		},
		Exposure: []model.Exposure{
			{Name: history.PastLease("pauses"), Count: 3, Min: 1, Text: "pauses of a holder that lasted past the end of its lease"},
			{Name: history.ExposureContended, Count: 214, Min: 1, Text: "grants that another client was waiting for"},
			{Name: "pauses", Count: 0, Min: 2, Text: "no pause hit a server"},
			{Name: "leader-changes", Count: 1, Text: "changes of leader"},
		},
		Stats: model.Stats{DurationNS: 23 * Second, Ops: 1204, OK: 1190, Fail: 3, Info: 11, OpsPerSecond: 52.3, Availability: .85,
			Latency: map[string]model.Quantiles{
				"write":   {Count: 402, P50NS: 31e6, P95NS: 88e6, P99NS: 3100e6, MaxNS: 3140e6},
				"acquire": {Count: 401, P50NS: 190e6, P95NS: 420e6, P99NS: 2300e6, MaxNS: 2400e6}},
			LossSignal: model.Quantiles{Count: 4, P50NS: 1e9, P95NS: 2e9, P99NS: 2e9, MaxNS: 2e9},
			TakeOver:   model.Quantiles{Count: 4, P50NS: 1e9, P95NS: 2e9, P99NS: 2e9, MaxNS: 2e9},
			Guarded:    2, OutlivedLeases: 3, StaleAccepted: 3, StaleOutlived: 3, StalePerOutlived: 1, Stalls: 1, StalledNS: 60e6},
	}
}

// madeUpSeries has windows of half a second; the lock is away for as long as a client is paused.
func madeUpSeries(m *model.Model) model.Series {
	s := model.Series{WindowNS: Second / 2}
	for at := int64(0); at < m.EndNS; at += s.WindowNS {
		w := model.SeriesWindow{Info: at / s.WindowNS % 3, LoadNS: s.WindowNS}
		if at >= 20*Second {
			w.LoadNS = 0
		}
		free := !slices.ContainsFunc(m.Faults, func(f *model.Fault) bool { return f.Name == "pause" && f.BeginNS <= at && at < f.HealNS })
		if free {
			w.OK, w.AvailableNS = 20+at/Second, w.LoadNS
			w.Latency = map[history.F]model.Quantiles{}
			for i, f := range []history.F{history.Acquire, history.Read, history.Write, history.Release} {
				ns := int64(i+1) * 10e6
				w.Latency[f] = model.Quantiles{Count: 5, P50NS: ns, P95NS: 2 * ns, P99NS: 3 * ns, MaxNS: 4 * ns}
			}
		}
		s.Windows = append(s.Windows, w)
	}
	for i, after := range []string{"pause", "death", "partition", "clock skew"} {
		d := model.Delay{FromNS: int64(i+1) * 4 * Second, DelayNS: int64(i+1) * Second / 2, Hold: "h34", Client: "c1", Next: "c2", Key: "k1"}
		s.LossSignals = append(s.LossSignals, d)
		d.After = after
		s.TakeOvers = append(s.TakeOvers, d)
	}
	return s
}

// Builder adds to the model of a run.
type Builder struct {
	Model    *model.Model
	findings map[model.Name][]model.Finding
	Token    int64 // of the last grant
	event    int64
	op       int64
}

// Hold adds a grant that its client was answered at from, believed in until to, and released then.
func (b *Builder) Hold(client, key string, from, to int64) *model.Hold {
	b.Token++
	h := &model.Hold{ID: fmt.Sprintf("h%d", b.Token), Key: key, Client: client, Session: "s-" + client,
		Token: fmt.Sprint(b.Token), InvokeNS: from - 60e6, DoneNS: from, Outcome: history.OK, BelievedNS: to, ReleaseNS: to,
		LeaseNS: from + 1800e6, Event: b.event, DoneEvent: b.event + 1}
	b.event += 2
	b.Model.Holds = append(b.Model.Holds, h)
	return h
}

// Write adds a write that the resource handled, and gives its number.
func (b *Builder) Write(h *model.Hold, at int64, value, base string, outcome history.Outcome) int64 {
	seq := int64(b.Model.Requests.Len() + 1)
	b.Model.Requests.Append(history.Request{Seq: seq, Request: fmt.Sprint(seq), Key: h.Key, Kind: history.KindWrite,
		Hold: h.ID, Token: h.Token, Value: value, Base: base, Outcome: outcome, TimeNS: at})
	return seq
}

// Fault adds a fault that was asked for at a moment, seen to work 2 ms later, and lasted for dur.
func (b *Builder) Fault(name history.F, target, role string, at, dur int64) *model.Fault {
	b.op++
	f := &model.Fault{Op: b.op, Name: name, Target: target, Role: role, DurNS: dur, BeginNS: at, EffectiveNS: at + 2e6,
		HealNS: at + dur, HealedNS: at + dur + 1e6, Events: []int64{b.event}}
	b.event++
	b.Model.Faults = append(b.Model.Faults, f)
	return f
}

func (b *Builder) finding(old, newer *model.Hold, late, now int64) {
	if b.findings == nil {
		b.findings = map[model.Name][]model.Finding{}
	}
	fault := b.Model.Faults[len(b.Model.Faults)-1]
	cause := model.Cause{Kind: "pause of holder", Fault: fault.Op,
		Text: fmt.Sprintf("%s was paused for 3.10 s while it held k1, with 1.86 s of its lease left.", old.Client)}
	at := b.Model.Requests.At(int(late) - 1).TimeNS
	event := func(h *model.Hold, n int) *int64 { return &h.Events()[n] }
	story := []model.Line{
		{TimeNS: old.DoneNS, Text: fmt.Sprintf("%s acquired k1 with token %s.", old.Client, old.Token), Event: event(old, 1)},
		{TimeNS: fault.EffectiveNS, Text: fmt.Sprintf("%s was paused: all of its threads were seen stopped.", old.Client), Event: &fault.Events[0]},
		{TimeNS: old.LeaseNS, Text: fmt.Sprintf("The lease that %s had been acknowledged ran out; no renewal could arrive.", old.Client)},
		{TimeNS: newer.DoneNS, Text: fmt.Sprintf("%s acquired k1 with token %s.", newer.Client, newer.Token), Event: event(newer, 1)},
		{TimeNS: newer.DoneNS + 120e6, Text: fmt.Sprintf("%s wrote; the resource accepted token %s.", newer.Client, newer.Token), Seq: late - 1},
		{TimeNS: fault.HealNS, Text: fmt.Sprintf("%s was resumed. It had looked at its lock before it began to work, and did not look again.", old.Client), Event: &fault.Events[0]},
		{TimeNS: at, Text: fmt.Sprintf("%s wrote with token %s, which %s had superseded 0.84 s before: accepted.", old.Client, old.Token, newer.Client), Seq: late},
		{TimeNS: old.LostNS, Text: fmt.Sprintf("%s was told by its library that the lock was gone.", old.Client)},
	}
	for _, name := range []model.Name{model.MutualExclusion, model.StaleWrite} {
		f := model.Finding{ID: fmt.Sprintf("%s-%d", name, len(b.findings[name])+1), Key: "k1", FromNS: now - 60e6, ToNS: newer.BelievedNS,
			Incident: old.ID, AtNS: at, Cause: cause, Story: story, Holds: []string{old.ID, newer.ID}, Events: []int64{1}, Requests: []int64{late - 1, late}}
		f.Summary = fmt.Sprintf("%s wrote with token %s after %s had been granted token %s", old.Client, old.Token, newer.Client, newer.Token)
		if name == model.MutualExclusion {
			f.AtNS, f.Requests = newer.DoneNS, nil
			f.Summary = fmt.Sprintf("%s and %s both believed that they held k1 for 840 ms", old.Client, newer.Client)
		}
		b.findings[name] = append(b.findings[name], f)
	}
}

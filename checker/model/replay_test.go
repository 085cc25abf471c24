package model

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/testkit"
)

// What a resource rejected, held against what it compares: the replay of its log and a plain loop over all that was before.
func TestReplaysAgreeWithPlainLoops(t *testing.T) {
	plain := history.Plan{Version: history.FormatVersion, Backend: "etcd", Workload: "lock", Nemesis: "pause", Nodes: 1, TTLMS: 2000, EffectiveMS: 2000,
		Tokens: history.TokensOrdered, SameKernel: true, Resource: history.ResourcePlain}
	blind, compareAndSet, unnamed := plain, plain, plain
	blind.Resource = history.ResourceFenced
	compareAndSet.Resource, compareAndSet.Tokens, compareAndSet.TokensReason = history.ResourceCAS, history.TokensNone, "a plain lock gives no number"
	unnamed.Resource, unnamed.Workload, unnamed.Fenced = "", "fencing", true
	fenced := unnamed
	fenced.Resource = history.ResourceFenced
	for name, plan := range map[string]history.Plan{"recorded before": unnamed, "fenced": fenced, "fenced without tokens": blind, "plain": plain, "cas": compareAndSet} {
		if err := plan.Validate(); err != nil {
			t.Fatal(err)
		}
		defects := 0
		for seed := range uint64(4000) {
			r := rand.New(rand.NewPCG(seed, 41))
			log, replay := []history.Request{}, newReplay(&plan)
			for seq := range int64(2 + r.IntN(6)) {
				q := history.Request{Seq: seq + 1, Request: strconv.FormatInt(seq+1, 10), Key: "kl"[r.IntN(2):][:1], Kind: history.KindWrite, Hold: "h"}
				if r.IntN(3) == 0 {
					q.Kind = history.KindRead
				} else {
					q.Value, q.Base = fmt.Sprint("v", seq+1), []string{"", "", "v1", "v2", "v3"}[r.IntN(5)]
				}
				if r.IntN(4) > 0 {
					q.Token = strconv.Itoa(8 + r.IntN(4))
				}
				q.Outcome = []history.Outcome{history.Applied, history.Applied, history.Rejected, history.Duplicate}[r.IntN(4)]
				want := wronglyRejected(plan.Resource, plan.Fenced, log, q)
				if err := replay.handled(&q); (err != nil) != want {
					t.Fatalf("%s, seed %d: after %+v, %+v: %v, want a defect: %v", name, seed, log, q, err, want)
				}
				if want {
					defects++
					break
				}
				log = append(log, q)
			}
		}
		if defects < 500 || defects > 3500 {
			t.Errorf("%s: %d defects in 4000 logs: one-sided", name, defects)
		}
	}
}

func wronglyRejected(resource history.Resource, sent bool, log []history.Request, q history.Request) bool {
	if q.Outcome != history.Rejected {
		return false
	}
	value, older := "", false
	for _, p := range log {
		if p.Key != q.Key || p.Outcome != history.Applied {
			continue
		}
		older = older || testkit.Higher(p.Token, q.Token)
		if p.Kind == history.KindWrite {
			value = p.Value
		}
	}
	switch {
	case resource == history.ResourceCAS:
		return q.Kind == history.KindRead || q.Base == value
	case resource == "": // a rejection without a token was not looked at
		return q.Token != "" && !older
	case resource == history.ResourceFenced && sent:
		return !older
	}
	return true
}

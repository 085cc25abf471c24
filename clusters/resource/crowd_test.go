//go:build unix && e2e

package resource_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
	"lockcheck/clusters/resource"
)

const (
	crowdSize   = 8
	crowdRounds = 12
)

// crowd has several clients read and write one key at once, with tokens that mostly grow and of which some come late, and judges what
// came of it as a run is judged. With idempotency keys they record slots, and have no tokens: these would keep most second records out.
func (s *subject) crowd(compares history.Comparison, keyed bool) {
	s.t.Helper()
	var mu sync.Mutex
	var events []history.Event
	begun := time.Now()
	record := func(e history.Event) {
		mu.Lock()
		defer mu.Unlock()
		e.Index, e.TimeNS = int64(len(events)), int64(time.Since(begun))
		events = append(events, e)
	}
	key, who := s.prefix+"crowd", "8 clients at once"
	if keyed {
		key, who = key+"-keys", who+", with idempotency keys"
	}
	var token int64 = 1000
	var clients sync.WaitGroup
	for c := range crowdSize {
		clients.Go(func() {
			name, random := fmt.Sprintf("c%d", c+1), rand.New(rand.NewPCG(uint64(c), 7))
			for round := range crowdRounds {
				mu.Lock()
				token++
				mine := token
				mu.Unlock()
				time.Sleep(time.Duration(random.IntN(4)) * time.Millisecond)
				presented := strconv.FormatInt(mine, 10)
				if keyed {
					presented = ""
				}
				s.turn(record, name, fmt.Sprintf("crowd-%d-%d", c, round), key, presented, keyed)
			}
		})
	}
	clients.Wait()
	record(history.Event{Process: history.HarnessProcess, Type: history.Info, F: history.Phase, Value: history.PhaseEnd})
	var requests []history.Request
	for _, q := range s.log() {
		if q.Key == key {
			q.Seq = int64(len(requests) + 1)
			requests = append(requests, q)
		}
	}
	plan := history.Plan{
		Version: history.FormatVersion, Tokens: history.TokensOrdered, Resource: "./subject", Fenced: compares == history.CompareTokens,
		UnderTest: &history.UnderTest{Compares: history.ComparisonNames[compares], IdempotencyKeys: keyed, LogRead: true},
	}
	if keyed {
		plan.SlotMS, plan.Execution, plan.Tokens, plan.TokensReason = 1, history.Idempotent, history.TokensNone, "none are presented"
	}
	result, _, err := checker.Check(model.Recording{Plan: plan, Events: sequence(events), Requests: sequence(requests)},
		checker.Options{Properties: []model.Name{model.ResourceIntegrity}})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range result.Properties[0].Findings {
		s.complain("%s: %s", who, f.Summary)
	}
}

func sequence[T any](rows []T) func(func(T, error) bool) {
	return func(yield func(T, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// turn is a grant with a token, a read and a write built on what was found.
func (s *subject) turn(record func(history.Event), client, hold, key, token string, keyed bool) {
	acquire := s.op.Add(1)
	event := history.Event{Process: client, Client: client, Hold: hold}
	as := func(f history.F, op int64, kind history.Type) history.Event {
		e := event
		e.F, e.Op, e.Type = f, op, kind
		return e
	}
	asked := as(history.Acquire, acquire, history.Invoke)
	asked.Key = key
	record(asked)
	granted := as(history.Acquire, acquire, history.OK)
	granted.Token = token
	record(granted)
	found := ""
	for _, f := range []history.F{history.Read, history.Write} {
		op := s.op.Add(1)
		ask := resource.Ask{Request: strconv.FormatInt(op, 10), Key: key, Hold: hold, Token: token}
		invoked := as(f, op, history.Invoke)
		if f == history.Write {
			ask.Value, ask.Base = hold, found
			if keyed {
				slot, _ := history.RecordedSlot(found)
				ask.Value, ask.IdempotencyKey = history.JobRecord(slot+1, hold), history.IdempotencyKey(slot+1)
			}
			invoked.Value, invoked.Base = ask.Value, found
		}
		record(invoked)
		body, _ := json.Marshal(ask)
		got := s.post("/"+string(f), string(body))
		done := as(f, op, history.Info)
		switch {
		case got.status == 200 && got.Outcome == history.Applied:
			done.Type = history.OK
			if f == history.Read {
				found = got.Value
			}
			if f == history.Read || keyed {
				done.Value = got.Value
			}
		case got.status == 409 && got.Outcome == history.Rejected:
			done.Type, done.Code = history.Fail, history.CodeRejected
		default:
			done.Error = got.raw
		}
		record(done)
		if done.Type != history.OK {
			return
		}
	}
}

// The judge of the crowd finds a resource wrong that forgets what it has answered.
func TestTheCrowdIsJudged(t *testing.T) {
	s := newSubject(t, example(t, `"SELECT line FROM log WHERE substr`, `"SELECT line FROM log WHERE n % 7 AND substr`))
	s.crowd(history.CompareTokens, false)
	if len(s.wrong) == 0 {
		t.Error("lines are missing from the log, and nothing is said")
	}
}

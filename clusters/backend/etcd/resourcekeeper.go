package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"lockcheck/checker/history"
	"lockcheck/clusters/resource"
)

// ResourceSettings are what a member is told that is a resource under test: nothing, it keeps what it has acknowledged.
func (Backend) ResourceSettings() map[string]string { return nil }

// keeper is an etcd member as a resource under test. A request is one transaction, which holds only if the register is still as it was
// read before; if it is not, the request has done nothing, and is tried again.
type keeper struct{ client *clientv3.Client }

// kept is a register, as JSON under keeperRegisters and its key.
type kept struct {
	Value string `json:"value"`
	Mark  string `json:"mark"`
	Place int64  `json:"place"` // how many requests it has seen: their order of effects
}

// Where a keeper has what it keeps.
const (
	keeperRegisters = "lockcheck/register/"
	keeperLines     = "lockcheck/log/"     // and the key, and the place
	keeperDone      = "lockcheck/done/"    // and the key, and the request: the line that answers it
	keeperApplied   = "lockcheck/applied/" // and the key, and the idempotency key: the line of what was applied with it
)

// OpenResource makes a resource of the member at an address. Nothing is asked of it yet.
func (Backend) OpenResource(_ context.Context, addr string) (resource.Keeper, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, DialTimeout: time.Second, Logger: zap.NewNop()})
	if err != nil {
		return nil, err
	}
	return &keeper{client}, nil
}

func (s *keeper) Close() { _ = s.client.Close() }

func (s *keeper) Ping(ctx context.Context) error {
	_, err := s.client.Get(ctx, keeperRegisters)
	return err
}

func (s *keeper) Handle(ctx context.Context, kind history.Kind, ask resource.Ask) (line history.Request, err error) {
	for {
		line, done, err := s.attempt(ctx, kind, ask)
		if err != nil || done {
			return line, err
		}
	}
}

// attempt reports whether the register was still as it was read.
func (s *keeper) attempt(ctx context.Context, kind history.Kind, ask resource.Ask) (line history.Request, done bool, err error) {
	register, once, applied := keeperRegisters+ask.Key, keeperDone+ask.Key+"/"+ask.Request, keeperApplied+ask.Key+"/"+ask.IdempotencyKey
	seen, err := s.client.Txn(ctx).Then(clientv3.OpGet(register), clientv3.OpGet(once), clientv3.OpGet(applied)).Commit()
	if err != nil {
		return line, false, fmt.Errorf("etcd: request %s: %w", ask.Request, err)
	}
	if before := seen.Responses[1].GetResponseRange().Kvs; len(before) > 0 {
		return line, true, json.Unmarshal(before[0].Value, &line)
	}
	var now kept
	revision := int64(0)
	if kvs := seen.Responses[0].GetResponseRange().Kvs; len(kvs) > 0 {
		revision = kvs[0].ModRevision
		if err := json.Unmarshal(kvs[0].Value, &now); err != nil {
			return line, false, err
		}
	}
	var first *history.Request
	if kvs := seen.Responses[2].GetResponseRange().Kvs; len(kvs) > 0 {
		first = new(history.Request)
		if err := json.Unmarshal(kvs[0].Value, first); err != nil {
			return line, false, err
		}
	}
	line = now.take(kind, ask, first)
	answer := line
	if first != nil {
		answer = *first
	}
	entries := map[string]any{register: now, fmt.Sprintf("%s%s/%020d", keeperLines, ask.Key, now.Place): line, once: answer}
	if ask.IdempotencyKey != "" && line.Outcome == history.Applied {
		entries[applied] = line
	}
	puts, err := put(entries)
	if err != nil {
		return line, false, err
	}
	wrote, err := s.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(register), "=", revision)).Then(puts...).Commit()
	if err != nil {
		return line, false, fmt.Errorf("etcd: request %s: %w", ask.Request, err)
	}
	return answer, wrote.Succeeded, nil
}

// put stores values as JSON.
func put(values map[string]any) (puts []clientv3.Op, err error) {
	for key, value := range values {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		puts = append(puts, clientv3.OpPut(key, string(text)))
	}
	return puts, nil
}

// take decides a request and is what the register is after it. First is what was applied with its idempotency key before, nil if nothing
// was: that is answered before anything is compared.
func (k *kept) take(kind history.Kind, ask resource.Ask, first *history.Request) history.Request {
	line := history.Request{Request: ask.Request, Key: ask.Key, Kind: kind, Hold: ask.Hold, Token: ask.Token, Value: ask.Value, Base: ask.Base, Outcome: history.Applied}
	k.Place++
	if first != nil {
		line.Outcome, line.First, line.Mark = history.Duplicate, first.Request, k.Mark
		return line
	}
	lower := func(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }
	if ask.Token != "" && lower(ask.Token, k.Mark) {
		line.Outcome, line.Mark = history.Rejected, k.Mark
		return line
	}
	if lower(k.Mark, ask.Token) {
		k.Mark = ask.Token
	}
	if kind == history.KindWrite {
		k.Value = ask.Value
	}
	line.Value, line.Mark = k.Value, k.Mark
	return line
}

// logChunk is how many lines of the log are asked for at once.
const logChunk = 1000

func (s *keeper) Log(ctx context.Context, pass func(history.Request) error) error {
	end := clientv3.GetPrefixRangeEnd(keeperLines)
	for from := keeperLines; ; {
		lines, err := s.client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(logChunk))
		if err != nil {
			return err
		}
		for _, kv := range lines.Kvs {
			var line history.Request
			if err := json.Unmarshal(kv.Value, &line); err != nil {
				return err
			}
			if err := pass(line); err != nil {
				return err
			}
			from = string(kv.Key) + "\x00"
		}
		if !lines.More {
			return nil
		}
	}
}

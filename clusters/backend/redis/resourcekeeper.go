package redis

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockcheck/checker/history"
	"lockcheck/clusters/resource"
)

// keeperSettings keep what a server has acknowledged when it is killed. With appendfsync everysec Redis answers before it has written to
// its file, while an earlier fsync still runs.
var keeperSettings = map[string]string{"appendonly": "yes", "appendfsync": "always"}

// ResourceSettings are what a server is told that is a resource under test.
func (Backend) ResourceSettings() map[string]string { return keeperSettings }

// handle is the whole of a request: Redis runs a script in one step, with no other command in between. Tokens are decimal strings
// without leading zeros, so the longer one is the greater.
var handle = redis.NewScript(`
local done = redis.call('HGET', KEYS[3], ARGV[1])
if done then return done end
local kind, token, value, base = ARGV[2], ARGV[4], ARGV[5], ARGV[6]
local now = redis.call('HMGET', KEYS[1], 'value', 'mark')
local current, mark = now[1] or '', now[2] or ''
local function lower(a, b) return #a < #b or #a == #b and a < b end
local line = {request = ARGV[1], key = ARGV[7], kind = kind, hold = ARGV[3], token = token, value = value, base = base, outcome = 'applied', mark = mark}
local first = ARGV[8] ~= '' and redis.call('HGET', KEYS[4], ARGV[8])
if first then -- answered before anything is compared
  line.outcome, line.first = 'duplicate', cjson.decode(first).request
  redis.call('RPUSH', KEYS[2], cjson.encode(line))
  redis.call('HSET', KEYS[3], ARGV[1], first)
  return first
end
if token ~= '' and lower(token, mark) then
  line.outcome = 'rejected'
else
  if token ~= '' and lower(mark, token) then mark = token end
  if kind == 'write' then current = value end
  line.value = current
  redis.call('HSET', KEYS[1], 'value', current, 'mark', mark)
end
line.mark = mark
local text = cjson.encode(line)
redis.call('RPUSH', KEYS[2], text)
redis.call('HSET', KEYS[3], ARGV[1], text)
if ARGV[8] ~= '' and line.outcome == 'applied' then redis.call('HSET', KEYS[4], ARGV[8], text) end
return text
`)

const keeperLog = "lockcheck:log"

// keeper is a Redis server as a resource under test.
type keeper struct{ rdb *redis.Client }

// OpenResource makes a resource of the server at an address. Nothing is asked of it yet.
func (Backend) OpenResource(_ context.Context, addr string) (resource.Keeper, error) {
	return &keeper{redis.NewClient(&redis.Options{
		Addr: addr, MaxRetries: -1, ReadTimeout: -1, PoolSize: 128, // each request once, however long its answer takes
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})}, nil
}

func (s *keeper) Close() { _ = s.rdb.Close() }

func (s *keeper) Ping(ctx context.Context) error { return s.rdb.Ping(ctx).Err() }

func (s *keeper) Handle(ctx context.Context, kind history.Kind, ask resource.Ask) (line history.Request, err error) {
	keys := []string{"lockcheck:register:" + ask.Key, keeperLog, "lockcheck:done:" + ask.Key, "lockcheck:idempotency:" + ask.Key}
	text, err := handle.Run(ctx, s.rdb, keys, ask.Request, string(kind), ask.Hold, ask.Token, ask.Value, ask.Base, ask.Key, ask.IdempotencyKey).Text()
	if err != nil {
		return line, fmt.Errorf("redis: request %s: %w", ask.Request, err)
	}
	return line, json.Unmarshal([]byte(text), &line)
}

// logChunk is how many lines of the log are asked for at once.
const logChunk = 1000

func (s *keeper) Log(ctx context.Context, pass func(history.Request) error) error {
	for from := int64(0); ; from += logChunk {
		lines, err := s.rdb.LRange(ctx, keeperLog, from, from+logChunk-1).Result()
		if err != nil || len(lines) == 0 {
			return err
		}
		for _, text := range lines {
			var line history.Request
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				return err
			}
			if err := pass(line); err != nil {
				return err
			}
		}
	}
}

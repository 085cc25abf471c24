package record

import "github.com/redis/go-redis/v9"

// The scripts begin with "#!lua" and no flags, which says that they write (Redis 7.0 and newer). A replica then refuses
// them; without it, it would run them up to their first write, and answer "not yours" for a record that it has not got yet.
var (
	compareAndDelete = redis.NewScript(`#!lua
if redis.call('get', KEYS[1]) == ARGV[1] then
	return redis.call('del', KEYS[1])
end
return 0`)

	compareAndExtend = redis.NewScript(`#!lua
if redis.call('get', KEYS[1]) == ARGV[1] then
	return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0`)

	// The counter first: should the server refuse one of the two, a number is skipped, and no record is without one.
	setCounted = redis.NewScript(`#!lua
if redis.call('exists', KEYS[1]) == 1 then
	return 0
end
local token = redis.call('incr', KEYS[2])
redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
return token`)
)

package record

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Key is where the record of a lock is.
func Key(lock string) string { return "lockcheck:" + lock }

// Value is a random value for the record of one attempt: 128 bits that no other writes. The client's name is for
// people who look at a server.
func Value(client string) string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return client + "-" + hex.EncodeToString(random[:])
}

// Store is one Redis service: a server, or the primary that the Sentinels name.
type Store struct {
	rdb   redis.UniversalClient
	bound time.Duration // of one request
}

// NewStore takes over a client of the library.
func NewStore(rdb redis.UniversalClient, bound time.Duration) *Store {
	rdb.AddHook(Connecting{})
	return &Store{rdb: rdb, bound: bound}
}

// Close ends the connections.
func (s *Store) Close() error { return s.rdb.Close() }

// request bounds one request. The end of ctx does not end it: the library would not notice before the reply or the bound,
// and a reply that comes after all is worth having.
func (s *Store) request(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), s.bound)
}

// Set makes a record that expires after ttl, unless there is one: false. Errors are those of Judge.
func (s *Store) Set(ctx context.Context, key, value string, ttl time.Duration) (bool, error) {
	ctx, cancel := s.request(ctx)
	defer cancel()
	err := s.rdb.Do(ctx, "SET", key, value, "NX", "PX", ttl.Milliseconds()).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, Judge(err)
}

// SetForever makes a record that does not expire, unless there is one: false.
func (s *Store) SetForever(ctx context.Context, key, value string) (bool, error) {
	ctx, cancel := s.request(ctx)
	defer cancel()
	made, err := s.rdb.SetNX(ctx, key, value, 0).Result()
	return made, Judge(err)
}

// SetCounted is Set with a counter that is raised by the same script; it returns the counter, "" if there is a record.
func (s *Store) SetCounted(ctx context.Context, key, counter, value string, ttl time.Duration) (string, error) {
	n, err := s.run(ctx, setCounted, []string{key, counter}, value, ttl.Milliseconds())
	if err != nil || n == 0 {
		return "", err
	}
	return strconv.FormatInt(n, 10), nil
}

// Delete removes the record if it has this value; false if it has not, or there is none.
func (s *Store) Delete(ctx context.Context, key, value string) (bool, error) {
	n, err := s.run(ctx, compareAndDelete, []string{key}, value)
	return n == 1, err
}

// Extend lets the record expire ttl from now if it has this value; false if it has not, or there is none.
func (s *Store) Extend(ctx context.Context, key, value string, ttl time.Duration) (bool, error) {
	n, err := s.run(ctx, compareAndExtend, []string{key}, value, ttl.Milliseconds())
	return n == 1, err
}

// Get reads the record's value, "" if there is none.
func (s *Store) Get(ctx context.Context, key string) (string, error) {
	ctx, cancel := s.request(ctx)
	defer cancel()
	value, err := s.rdb.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return value, Judge(err)
}

// DeleteAny removes the record of any owner; false if there is none.
func (s *Store) DeleteAny(ctx context.Context, key string) (bool, error) {
	ctx, cancel := s.request(ctx)
	defer cancel()
	n, err := s.rdb.Del(ctx, key).Result()
	return n == 1, Judge(err)
}

func (s *Store) run(ctx context.Context, script *redis.Script, keys []string, args ...any) (int64, error) {
	ctx, cancel := s.request(ctx)
	defer cancel()
	n, err := script.Run(ctx, s.rdb, keys, args...).Int64()
	return n, Judge(err)
}

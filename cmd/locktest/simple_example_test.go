package locktest_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"lockcheck/cmd/locktest"
)

var etcd = sync.OnceValues(func() (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: locktest.Servers(), DialTimeout: time.Second})
})

// lockEtcd is etcd's own recipe: a session, which is renewed, and a mutex.
func lockEtcd(ctx context.Context, key string) (unlock func(context.Context) error, lost <-chan struct{}, err error) {
	connection, err := etcd()
	if err != nil {
		return nil, nil, err
	}
	session, err := concurrency.NewSession(connection, concurrency.WithTTL(int(locktest.TTL().Seconds())))
	if err != nil {
		return nil, nil, err
	}
	mutex := concurrency.NewMutex(session, key)
	if err := mutex.Lock(ctx); err != nil {
		session.Orphan() // the lease ends by itself
		return nil, nil, err
	}
	return func(ctx context.Context) error {
		defer session.Orphan()
		return mutex.Unlock(ctx)
	}, session.Done(), nil
}

// Without retries: go-redis would send a SET again whose answer was lost, and take its own key for another's.
var server = sync.OnceValue(func() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: locktest.Servers()[0], MaxRetries: -1})
})

var remove = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

// lockRedis is a key that expires, and is not renewed: it is lost when its time is over.
func lockRedis(ctx context.Context, key string) (unlock func(context.Context) error, lost <-chan struct{}, err error) {
	mine := rand.Text()
	for {
		ends := time.Now().Add(locktest.TTL())
		granted, err := server().SetNX(ctx, key, mine, locktest.TTL()).Result()
		if err != nil {
			return nil, nil, err
		}
		if granted {
			over := make(chan struct{})
			timer := time.AfterFunc(time.Until(ends), func() { close(over) })
			return func(ctx context.Context) error {
				timer.Stop()
				return remove.Run(ctx, server(), []string{key}, mine).Err()
			}, over, nil
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

var (
	simpleEtcd  = locktest.Client{Name: "simple-etcd", New: locktest.Simple(lockEtcd)}
	simpleRedis = locktest.Client{Name: "simple-redis", New: locktest.Simple(lockRedis)}
)

// A lock of etcd. In a file of tests these two functions are TestMain and TestOurLock.
func ExampleSimple_etcd() {
	testMain := func(m *testing.M) { locktest.Main(m, simpleEtcd) }
	testOurLock := func(t *testing.T) {
		locktest.Run(t, locktest.Plan{Backend: "etcd", Client: "simple-etcd", Nemesis: "pause", TimeLimit: 10 * time.Second})
	}
	fmt.Printf("%T %T", testMain, testOurLock)
	// Output: func(*testing.M) func(*testing.T)
}

// A lock of one Redis server.
func ExampleSimple_redis() {
	testMain := func(m *testing.M) { locktest.Main(m, simpleRedis) }
	testOurLock := func(t *testing.T) {
		locktest.Run(t, locktest.Plan{Backend: "redis", Nodes: 1, Client: "simple-redis", Nemesis: "pause", TimeLimit: 10 * time.Second})
	}
	fmt.Printf("%T %T", testMain, testOurLock)
	// Output: func(*testing.M) func(*testing.T)
}

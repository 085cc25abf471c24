//go:build e2e

package redis

import (
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
)

// What a server refuses it refuses before it does anything, scripts included.
func TestRefusalsOfRealServersAreDefinite(t *testing.T) {
	for name, set := range map[string][]string{
		"NOREPLICAS": {"min-replicas-to-write", "1"},
		"OOM":        {"maxmemory", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := startSingle(t, nil)
			admin := redis.NewClient(&redis.Options{Addr: c.Endpoints()[0]})
			defer admin.Close()
			store := record.NewStore(redis.NewClient(record.Options(c.Endpoints()[0], time.Second)), time.Second)
			defer store.Close()
			if made, err := store.Set(t.Context(), "k", "v", time.Minute); !made || err != nil {
				t.Fatal(made, err)
			}
			if err := admin.ConfigSet(t.Context(), set[0], set[1]).Err(); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Set(t.Context(), "other", "v", time.Minute); !client.Certain(err) {
				t.Errorf("set: %v", err)
			}
			if _, err := store.SetCounted(t.Context(), "other", "n", "v", time.Minute); !client.Certain(err) {
				t.Errorf("counted set: %v", err)
			}
			if name == "OOM" { // a script that would free memory is refused as well, because Redis cannot know
				if _, err := store.Delete(t.Context(), "k", "v"); !client.Certain(err) {
					t.Errorf("delete: %v", err)
				}
			}
			if _, err := store.Extend(t.Context(), "k", "v", time.Hour); !client.Certain(err) {
				t.Errorf("extend: %v", err)
			}
			if left := admin.PTTL(t.Context(), "k").Val(); left > time.Minute || left <= 0 {
				t.Errorf("the record has %v left", left)
			}
			if keys := admin.DBSize(t.Context()).Val(); keys != 2 { // and the probe's
				t.Errorf("%d keys", keys)
			}
		})
	}
}

// A replica that has not got a record yet must not answer that it is not ours.
func TestAReplicaRefusesScripts(t *testing.T) {
	c := startReplicated(t)
	addr := net.JoinHostPort(c.Servers[1].Addr(), "6379")
	store := record.NewStore(redis.NewClient(record.Options(addr, time.Second)), time.Second)
	defer store.Close()
	if _, err := store.Extend(t.Context(), "none", "v", time.Second); !client.Certain(err) {
		t.Errorf("extend: %v", err)
	}
	if _, err := store.Delete(t.Context(), "none", "v"); !client.Certain(err) {
		t.Errorf("delete: %v", err)
	}
	if _, err := store.Set(t.Context(), "none", "v", time.Second); !client.Certain(err) {
		t.Errorf("set: %v", err)
	}
}

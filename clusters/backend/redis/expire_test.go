//go:build e2e

package redis

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"lockcheck/clusters/backend/redis/record"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

// left is how long the record of a lock lasts; -1 for one that does not expire.
func left(t *testing.T, c *single, key string) time.Duration {
	t.Helper()
	rdb := goredis.NewClient(&goredis.Options{Addr: c.Endpoints()[0]})
	defer rdb.Close()
	ttl, err := rdb.PTTL(t.Context(), record.Key(key)).Result()
	if err != nil {
		t.Fatal(err)
	}
	return ttl
}

// betweenItsSteps is a client whose acquire, asked for after ping 40, has made its record and waits for a ping.
func betweenItsSteps(t *testing.T, c *single) *clientkit.Served {
	t.Helper()
	s := clientkit.Serve(t, setnxExpire.factory, backends.InitFor(c, lease))
	s.Send(`{"cmd":"ping","n":40}`)
	s.Send(`{"cmd":"acquire","op":1,"hold":"h1","key":"k"}`)
	if stage := s.Await(client.MsgStage, 1); stage.Stage != client.StageExpiring {
		t.Fatalf("stage %q", stage.Stage)
	}
	return s
}

// An acquire in two steps makes its record, says that it is about to let it expire, and does so once it has read a ping. In
// between the record is for ever.
func TestAnAcquireOfTwoStepsHasARecordWithoutAnEndInBetween(t *testing.T) {
	c := startSingle(t, nil)
	s := betweenItsSteps(t, c)
	if value(t, c, "k") == "" || left(t, c, "k") != -1 {
		t.Errorf("before the ping the record %q lasts %v", value(t, c, "k"), left(t, c, "k"))
	}
	s.Send(`{"cmd":"ping","n":41}`)
	ok := s.Await(client.MsgOK, 1)
	if ok.Seen != 40 || ok.Session != value(t, c, "k") {
		t.Errorf("answered %+v, want the record's value, asked for after ping 40", ok)
	}
	if ttl := left(t, c, "k"); ttl <= 0 || ttl > lease {
		t.Errorf("once granted the record lasts %v", ttl)
	}
}

// One that is given up in between removes the record: only a client that dies there leaves it.
func TestAnAcquireOfTwoStepsThatIsGivenUpLeavesNoRecord(t *testing.T) {
	c := startSingle(t, nil)
	s := betweenItsSteps(t, c)
	s.Send(`{"cmd":"cancel","op":1}`)
	s.Await(client.MsgInfo, 1)
	if got := value(t, c, "k"); got != "" {
		t.Errorf("the record %q is left", got)
	}
}

// The second step gives an end to no record but its own.
func TestAnAcquireWhoseRecordIsGoneBeforeItsEndIsNotGranted(t *testing.T) {
	c := startSingle(t, nil)
	s := betweenItsSteps(t, c)
	if err := c.Servers[0].Write(t.Context(), record.Key("k"), "another"); err != nil {
		t.Fatal(err)
	}
	s.Send(`{"cmd":"ping","n":41}`)
	s.Await(client.MsgInfo, 1)
	if got := value(t, c, "k"); got != "another" || left(t, c, "k") != -1 {
		t.Errorf("the other's record is %q and lasts %v", got, left(t, c, "k"))
	}
}

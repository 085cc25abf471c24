package etcd

import (
	"errors"
	"os"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

var errLockLost = errors.New("the lock is lost")

// What the page about resources tells users to write rejects the write of a holder whose lease has ended, and no other.
func TestTheRemedyOfThePageRejectsAStaleWrite(t *testing.T) {
	etcd := admin(t, startEtcd(t))
	ctx := t.Context()
	hold := func() (*concurrency.Session, *concurrency.Mutex) {
		session, err := concurrency.NewSession(etcd, concurrency.WithTTL(1))
		if err != nil {
			t.Fatal(err)
		}
		mutex := concurrency.NewMutex(session, "accounts/lock")
		if err := mutex.Lock(ctx); err != nil {
			t.Fatal(err)
		}
		return session, mutex
	}
	write := func(mutex *concurrency.Mutex, value string) error {
		done, err := etcd.Txn(ctx).
			If(mutex.IsOwner()).
			Then(clientv3.OpPut("accounts/1", value)).
			Commit()
		if err == nil && !done.Succeeded {
			err = errLockLost
		}
		return err
	}
	session, first := hold()
	if err := write(first, "of the first"); err != nil {
		t.Error(err)
	}
	if _, err := etcd.Revoke(ctx, session.Lease()); err != nil {
		t.Fatal(err)
	}
	_, second := hold()
	if err := write(second, "of the second"); err != nil {
		t.Error(err)
	}
	if err := write(first, "late"); !errors.Is(err, errLockLost) {
		t.Errorf("the late write: %v, want %v", err, errLockLost)
	}
	if got, err := etcd.Get(ctx, "accounts/1"); err != nil || string(got.Kvs[0].Value) != "of the second" {
		t.Errorf("%v, %v", got, err)
	}

	page, err := os.ReadFile("../../resource/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```go\n")
	shown, _, found := strings.Cut(shown, "```")
	here, err := os.ReadFile("remedy_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if !found || !strings.Contains(strings.ReplaceAll(string(here), "\n\t\t", "\n"), "\n"+shown) {
		t.Errorf("the page shows other lines than this test:\n%s", shown)
	}
}

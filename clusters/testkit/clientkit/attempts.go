package clientkit

import (
	"testing"

	"lockcheck/clusters/client"
)

// WantAttempts checks that two clients say how many requests their acquires take: so many for a free lock, and more for
// one that had to be waited for, which has to have been said.
func WantAttempts(t *testing.T, a, b *Served, key string, uncontended int64) {
	t.Helper()
	for op := int64(1); op <= 3; op += 2 { // the first may have more to do than to ask
		a.Acquire(op, key)
		granted := a.Await(client.MsgOK, op)
		if op == 3 && granted.Attempts != uncontended {
			t.Errorf("the lock was free, and its acquire took %d requests, want %d", granted.Attempts, uncontended)
		}
		if op == 1 {
			a.Release(2, 1)
			a.Await(client.MsgOK, 2)
		}
	}
	b.Acquire(1, key)
	b.Await(client.MsgStage, 1)
	a.Release(4, 3)
	a.Await(client.MsgOK, 4)
	if granted := b.Await(client.MsgOK, 1); granted.Attempts <= uncontended {
		t.Errorf("it waited, and its acquire took %d requests, want more than %d", granted.Attempts, uncontended)
	}
}

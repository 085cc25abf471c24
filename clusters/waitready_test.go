package clusters

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// waits waits for a look that says what is missing by its number, from 1 on, with a deadline after a second of looks each 100 ms.
func waits(t *testing.T, nodes []Node, look func(n int) error) (looks int, took time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 950*time.Millisecond)
		defer cancel()
		begun := time.Now()
		err = Settled(ctx, "member", nodes, 100*time.Millisecond, func(unbound context.Context) error {
			looks++
			if _, ends := unbound.Deadline(); ends {
				t.Error("what is looked at the deadline would end by it")
			}
			return look(looks)
		}, LastLook)
		took = time.Since(begun)
	})
	return looks, took, err
}

func missing(n int) error { return fmt.Errorf("%d missed", n) }

func TestAServiceHasSettledWithTheFirstLookThatMissesNothing(t *testing.T) {
	looks, took, err := waits(t, []Node{toyNode{}}, func(n int) error {
		if n < 3 {
			return missing(n)
		}
		return nil
	})
	if looks != 3 || took != 200*time.Millisecond || err != nil {
		t.Errorf("%d looks in %v, %v; want 3, one each 100 ms", looks, took, err)
	}
}

// Any node of which a process is known may be the one. A look that misses nothing is enough all the same: it asked them all.
func TestAServiceOfWhichANodeEndedDoesNotSettle(t *testing.T) {
	over := named{name: "n2", ended: ended{log: t.TempDir() + "/none"}}
	nodes := []Node{toyNode{}, over}
	looks, took, err := waits(t, nodes, missing)
	if looks != 1 || took != 0 || err == nil || !strings.HasPrefix(err.Error(), "member n2 ended: exit code 0\n") {
		t.Errorf("%d looks in %v, %v; want what n2 said, at once", looks, took, err)
	}
	if _, _, err := waits(t, nodes, func(int) error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestAServiceThatDoesNotSettleInTimeSaysWhatTheLastLookMissed(t *testing.T) {
	looks, took, err := waits(t, []Node{toyNode{}}, missing)
	if took != 950*time.Millisecond || !errors.Is(err, context.DeadlineExceeded) || err.Error() != "context deadline exceeded: 10 missed" {
		t.Errorf("%d looks in %v, %v", looks, took, err)
	}
}

//go:build e2e

package zookeeper

import (
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// The library makes its node, and loses its connection before it knows its place in the queue. It leaves the node: a client that goes on with
// the session waits behind it, and one that says that the outcome is unknown closes the session (zk-orphan-node).
func TestAnErrorOfTheLibraryLeavesItsNode(t *testing.T) {
	c := ensemble(t)
	for name, factory := range map[string]client.Factory{"go-zookeeper": Library, "go-zookeeper-same-session": LibrarySameSession} {
		t.Run(name, func(t *testing.T) {
			s, key := subject{kind{factory, "/lockcheck", 2}, c, admin(t, c)}, "orphan-of-"+name
			lock, seen, w := s.behindWire(t, longTTL)
			g := clientkit.Acquire(t, lock, key) // the session and the lock's node are there
			release(t, g)
			w.Hold(clientkit.ToClient)
			failed := severed(t, w, clientkit.Acquiring(t.Context(), lock, key), func() { s.queued(t, key, 1) })
			w.LetGo(clientkit.ToClient)
			if name == "go-zookeeper" {
				clientkit.WantUnknown(t, failed)
				clientkit.Eventually(t, "the session was closed", func() bool { return seen.SaidEnded(g.Session()) })
				s.wantQueued(t, key, 0)
				return
			}
			clientkit.WantCode(t, failed, history.CodeRefused)
			again := clientkit.Acquiring(t.Context(), lock, key)
			clientkit.Eventually(t, "it waits behind its own node", func() bool {
				select {
				case got := <-again: // nothing is sent before the connection is there again
					clientkit.WantCode(t, got.Err, history.CodeRefused)
					again = clientkit.Acquiring(t.Context(), lock, key)
				default:
				}
				return len(s.queue(t, key)) == 2
			})
			if _, stat := s.first(t, key); sessionName(stat.EphemeralOwner) != g.Session() {
				t.Errorf("the first node is of session %x, want that of the client, %s", stat.EphemeralOwner, g.Session())
			}
			select {
			case got := <-again:
				t.Errorf("it got %+v, want that it waits for its own node", got)
			default:
			}
		})
	}
}

// severed breaks the connections of a client that asks for a lock, once the request took effect, until it fails: so often that the library
// has tried all servers of its list.
func severed(t *testing.T, w *clientkit.Wire, asking <-chan clientkit.Outcome, tookEffect func()) error {
	t.Helper()
	tookEffect()
	for deadline := time.Now().Add(clientkit.Timeout); time.Now().Before(deadline); {
		w.Sever()
		select {
		case got := <-asking:
			if got.Err == nil {
				t.Fatal("it was granted the lock")
			}
			return got.Err
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatal("the library did not give up")
	return nil
}

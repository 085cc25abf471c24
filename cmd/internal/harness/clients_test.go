package harness

import (
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// Every lock client that comes with a backend says of its releases what is true of them. Two are unchecked: get-del looks in one
// step and deletes in another, and unlock-retry deletes a key whose name may be that of a later grant.
func TestEveryBuiltInClientDeclaresItsReleases(t *testing.T) {
	unchecked := map[string]bool{"redis get-del": true, "etcd unlock-retry": true}
	seen := 0
	for _, b := range Backends {
		for _, c := range b.Clients() {
			name := b.Name() + " " + c.Name
			if c.New == nil { // a program of its own, whose own tests look
				continue
			}
			// None of them connects before it is asked for a lock.
			lock, ready, err := c.New(t.Context(), client.Init{Protocol: client.ProtocolVersion, Name: "c1", Endpoints: []string{"127.0.0.1:1"}, TTLMS: 2000}, ears{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want := history.ReleaseChecked
			if unchecked[name] {
				want, seen = history.ReleaseUnchecked, seen+1
			}
			if ready.Release != string(want) {
				t.Errorf("%s declares release %q, want %q", name, ready.Release, want)
			}
			if err := lock.Close(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if seen != len(unchecked) {
		t.Errorf("%d of the clients %v are there", seen, unchecked)
	}
}

// ears is a client.Watch to which nothing is said.
type ears struct{ client.Watch }

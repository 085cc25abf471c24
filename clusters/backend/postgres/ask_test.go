//go:build e2e

package postgres

import (
	"testing"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/backends"
	"lockcheck/clusters/testkit/clientkit"
)

// A grant asks about its own record: not about one of another lock, nor about one of the same name that was made later.
func TestAGrantAsksAboutItsOwnRecord(t *testing.T) {
	c := startAlone(t, nil)
	for _, of := range []struct {
		name    string
		factory client.Factory
		taken   func(t *testing.T, session string) // by which the lock is lost
	}{
		{"advisory", newAdvisory, func(t *testing.T, session string) { terminate(t, c, session) }},
		{"for-update", newForUpdate, func(t *testing.T, session string) { terminate(t, c, session) }},
		{"row-lease", newRowLease, func(t *testing.T, session string) {
			run(t, c, "update lockcheck_lease set expires_at = now() where owner = '"+session+"'")
		}},
		{"pglock", newLibrary, func(t *testing.T, session string) {
			run(t, c, "delete from locks where owner = '"+session+"'")
		}},
	} {
		t.Run(of.name, func(t *testing.T) {
			a, _, ready := clientkit.Client(t, of.factory, backends.InitFor(c, 30*time.Second))
			b, _, _ := clientkit.Client(t, of.factory, backends.InitFor(c, 30*time.Second))
			if len(ready.Commands) != 1 || ready.Commands[0] != string(history.GuardAsk) {
				t.Errorf("declares %q", ready.Commands)
			}
			lost, kept := clientkit.Acquire(t, a, of.name+" lost"), clientkit.Acquire(t, a, of.name+" kept")
			wantHeld(t, lost, true)
			wantHeld(t, kept, true)
			of.taken(t, lost.Session())
			clientkit.Eventually(t, "the lock is lost", func() bool {
				held, err := lost.(client.Asker).Ask(t.Context(), history.AskLatest)
				return err == nil && !held
			})
			next := clientkit.Acquire(t, b, of.name+" lost")
			wantHeld(t, lost, false)
			wantHeld(t, next, true)
			wantHeld(t, kept, true)
		})
	}
}

func wantHeld(t *testing.T, g client.Grant, want bool) {
	t.Helper()
	if held, err := g.(client.Asker).Ask(t.Context(), history.AskLatest); err != nil || held != want {
		t.Errorf("%s: held %v, %v; want %v", g.Session(), held, err, want)
	}
}

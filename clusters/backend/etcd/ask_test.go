package etcd

import (
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit/clientkit"
)

// A grant asks about its own record: not about one of the same name that was made later.
func TestAGrantAsksAboutItsOwnRecord(t *testing.T) {
	endpoint := startEtcd(t)
	for name, r := range map[string]recipe{"mutex": mutexes, "lease-txn": leaseTxns} {
		lock, _ := newClientOf(t, r, 1, endpoint)
		g := clientkit.Acquire(t, lock, name).(*grant)
		for _, question := range []history.Question{history.AskLatest, history.AskAnyCopy} {
			if held, err := g.Ask(t.Context(), question); err != nil || !held {
				t.Errorf("%s, %s: %v, %v", name, question, held, err)
			}
		}
		var _ client.Asker = g
		etcd := g.lock.etcd
		for step, change := range []func() error{
			func() error { _, err := etcd.Delete(t.Context(), g.record); return err },
			func() error { _, err := etcd.Put(t.Context(), g.record, "of another"); return err },
		} {
			if err := change(); err != nil {
				t.Fatal(err)
			}
			if held, err := g.Ask(t.Context(), history.AskLatest); err != nil || held {
				t.Errorf("%s, after step %d: %v, %v", name, step, held, err)
			}
		}
	}
}

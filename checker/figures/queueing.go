package figures

import (
	"cmp"
	"container/heap"

	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// overtakes counts the grants of all locks that were made before a request which had certainly queued earlier: a client
// was seen to wait before the granted one asked, and still waited when the grant was read. A lock that wakes its waiters
// in turn has none.
func overtakes(m *model.Model) (n int64) {
	for _, k := range m.Locks {
		n += overtakesOn(k)
	}
	return n
}

// overtakesOn goes over the acquires in the order of their invocations. Of those that wait it keeps the ones not known to
// have queued yet, and the two clients that wait longest of the others.
func overtakesOn(k *model.Lock) (n int64) {
	var queueing queueingHeap
	var queued longestWaits
	for _, h := range k.Acquires {
		for len(queueing) > 0 && queueing[0].QueuedNS < h.InvokeNS {
			w := heap.Pop(&queueing).(*model.Hold)
			queued.take(w.ClientNumber, queuedUntil(w))
		}
		if h.Outcome == history.OK && queued.other(h.ClientNumber) > h.DoneNS {
			n++
		}
		if h.QueuedNS != 0 {
			heap.Push(&queueing, h)
		}
	}
	return n
}

// queuedUntil is when an acquire was answered; never if it was not.
func queuedUntil(h *model.Hold) int64 {
	if h.Outcome == history.Invoke {
		return model.Never
	}
	return h.DoneNS
}

// queueingHeap orders acquires by when they were seen to have queued.
type queueingHeap []*model.Hold

func (q queueingHeap) Len() int           { return len(q) }
func (q queueingHeap) Less(i, j int) bool { return cmp.Less(q[i].QueuedNS, q[j].QueuedNS) }
func (q queueingHeap) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queueingHeap) Push(x any)        { *q = append(*q, x.(*model.Hold)) }
func (q *queueingHeap) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// attemptsPerGrant is how many requests for locks clients sent to the service for each grant, as far as they see them;
// failed ones count, too. 0 if no client reports them.
func attemptsPerGrant(m *model.Model) float64 {
	var attempts, grants int64
	for _, k := range m.Locks {
		for _, h := range k.Acquires {
			attempts += h.SentAttempts
		}
		grants += int64(len(k.Grants))
	}
	if grants == 0 {
		return 0
	}
	return model.Rounded(float64(attempts)/float64(grants), 100)
}

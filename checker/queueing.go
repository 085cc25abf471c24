package checker

import (
	"cmp"
	"container/heap"

	"lockcheck/checker/history"
)

// overtakes counts the grants of all locks that were made before a request which had certainly queued earlier: a client
// was seen to wait before the granted one asked, and still waited when the grant was read. A lock that wakes its waiters
// in turn has none.
func (j *judge) overtakes() (n int64) {
	for _, k := range j.keys {
		n += k.overtakes()
	}
	return n
}

// overtakes goes over the acquires in the order of their invocations. Of those that wait it keeps the ones not known to
// have queued yet, and the two clients that wait longest of the others.
func (k *keyView) overtakes() (n int64) {
	var queueing queueingHeap
	var queued longestWaits
	for _, h := range k.acquires {
		for len(queueing) > 0 && queueing[0].QueuedNS < h.InvokeNS {
			w := heap.Pop(&queueing).(*Hold)
			queued.take(w.client, w.waitedUntil())
		}
		if h.Outcome == history.OK && queued.other(h.client) > h.DoneNS {
			n++
		}
		if h.QueuedNS != 0 {
			heap.Push(&queueing, h)
		}
	}
	return n
}

// waitedUntil is when an acquire was answered; never if it was not.
func (h *Hold) waitedUntil() int64 {
	if h.Outcome == history.Invoke {
		return never
	}
	return h.DoneNS
}

// queueingHeap orders acquires by when they were seen to have queued.
type queueingHeap []*Hold

func (q queueingHeap) Len() int           { return len(q) }
func (q queueingHeap) Less(i, j int) bool { return cmp.Less(q[i].QueuedNS, q[j].QueuedNS) }
func (q queueingHeap) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queueingHeap) Push(x any)        { *q = append(*q, x.(*Hold)) }
func (q *queueingHeap) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// attemptsPerGrant is how many requests for locks clients sent to the service for each grant, as far as they see them;
// failed ones count, too. 0 if no client reports them.
func (j *judge) attemptsPerGrant() float64 {
	var attempts, grants int64
	for _, k := range j.keys {
		for _, h := range k.acquires {
			attempts += h.SentAttempts
		}
		grants += int64(len(k.grants))
	}
	if grants == 0 {
		return 0
	}
	return rounded(float64(attempts)/float64(grants), 100)
}

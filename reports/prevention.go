package reports

import (
	"fmt"
	"math/big"
	"slices"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// circumstance is what a finding's remedies depend on.
type circumstance struct {
	plan    history.Plan
	finding checker.Finding
	verdict checker.Verdict
	older   *checker.Hold    // nil if the finding names none
	newer   *checker.Hold    // nil if it names fewer than two
	fault   *checker.Fault   // that caused it; nil if none did
	atOlder bool             // the fault hit the older holder
	late    *history.Request // the last write that was applied, of those that the finding names; nil if there is none
	before  []history.Request
}

// prevention says what would have prevented a finding, or its harm: as far as the recording shows it, and no further.
func prevention(plan history.Plan, p *checker.Property, f checker.Finding, ix *index) []string {
	c := circumstance{plan: plan, finding: f, verdict: p.Verdict, fault: ix.faults[f.Cause.Fault]}
	if n := len(f.Holds); n > 0 {
		if c.older = ix.holds[f.Holds[0]]; n > 1 {
			c.newer = ix.holds[f.Holds[n-1]]
		}
	}
	c.atOlder = c.fault != nil && c.older != nil && c.fault.Target == c.older.Client
	requests := ix.requestsWithin(f.Key, 1, 0, f.Requests)
	for i, r := range slices.Backward(requests) {
		if r.Kind == history.KindWrite && r.Outcome == history.Applied {
			c.late, c.before = &requests[i], requests[:i]
			break
		}
	}
	if remedy := remedies[p.Name]; remedy != nil {
		return remedy(&c)
	}
	return nil
}

// remedies are what helps against a violation of each property.
var remedies = map[checker.Name]func(*circumstance) []string{
	checker.MutualExclusion:         (*circumstance).belief,
	checker.StaleWrite:              (*circumstance).harm,
	checker.LostUpdate:              (*circumstance).harm,
	checker.ResourceLinearizability: (*circumstance).harm,
	checker.TokenMonotonicity:       (*circumstance).tokens,
	checker.EarlyExpiry:             (*circumstance).service,
	checker.LockLinearizability:     (*circumstance).service,
	checker.ReleaseByOwner:          (*circumstance).release,
	checker.Liveness:                (*circumstance).liveness,
}

func (c *circumstance) belief() []string {
	switch {
	case c.verdict == checker.Masked:
		return []string{"Nothing had to: two clients believed, and the storage compared their tokens and let nothing stale through. That is what fencing is for."}
	case c.finding.Unavoidable:
		return append([]string{"No care of the client's: both were within the time for which their clients had declared the lock valid."}, c.service()...)
	case c.atOlder && c.fault.Name == "clock":
		return []string{fmt.Sprintf("A client that counts its lease on a clock which nobody can set: the clock of %s was changed.", c.older.Client), c.fencing()}
	case c.atOlder && slices.Contains(silencing, c.fault.Name):
		return []string{fmt.Sprintf("Nothing that a lock with leases can do: %s, while it was %s, could not learn that its lease was over. What can be prevented is the harm.",
			c.older.Client, pastTense(c.fault.Name)), c.fencing()}
	}
	return c.service()
}

// silencing are the faults of a client that keep it from learning anything, or from doing anything about it.
var silencing = []history.F{"pause", "partition", "loss"}

// harm is what would have kept a stale write from the data.
func (c *circumstance) harm() []string {
	words := []string{c.fencing()}
	if current, differs := c.overwritten(); differs {
		words = append(words, fmt.Sprintf("A storage that takes a write only if its base is still the current value (compare and set): the last write was built on %s, and the value was %s by then.",
			valueWords(c.late.Base), valueWords(current)))
	}
	if !c.atOlder { // the lock was given away before its time, or nobody knows why it was
		return append(words, c.service()...)
	}
	switch {
	case c.finding.Unavoidable:
		words = append(words, "No care of the client's: its own look at the lock still said yes.")
	case c.plan.Guard == "before-write":
		words = append(words, "No more care of the client's: it had looked at its lock just before it sent the write.")
	default:
		words = append(words, "Another look at the lock just before the write (--guard=before-write) makes this rarer. It cannot rule it out: a client can be stopped between the look and the write, and a packet can come late.")
	}
	return words
}

// fencing says what tokens would have done, or why they did not.
func (c *circumstance) fencing() string {
	switch higher := c.superseding(); {
	case c.plan.Tokens != history.TokensOrdered:
		return "A lock whose every grant carries a greater number, and a storage that rejects a number lower than it has seen. This lock client gives none" + reasonIn(c.plan.TokensReason) + "."
	case c.plan.Fenced && higher != "":
		return fmt.Sprintf("The storage compared tokens, and took token %s after token %s all the same.", c.late.Token, higher)
	case c.plan.Fenced:
		return "Tokens that grow with every grant: the storage compared them, and had seen none that was greater."
	case higher != "":
		return fmt.Sprintf("A storage that compares fencing tokens (--workload=fencing): token %s had been used before the write with token %s came, which would have been rejected.", higher, c.late.Token)
	}
	return "A storage that compares fencing tokens (--workload=fencing) rejects what comes with a lower token than it has seen."
}

// superseding is the token of a request before the late write that was greater than the write's own; "" if there is none.
func (c *circumstance) superseding() string {
	if c.late == nil {
		return ""
	}
	own, ok := new(big.Int).SetString(c.late.Token, 10)
	if !ok {
		return ""
	}
	for _, r := range c.before {
		if token, ok := new(big.Int).SetString(r.Token, 10); ok && r.Key == c.late.Key && r.Outcome == history.Applied && token.Cmp(own) > 0 {
			return r.Token
		}
	}
	return ""
}

// overwritten is what the last applied write before the late one had left, if the late one was built on something else.
func (c *circumstance) overwritten() (current string, differs bool) {
	for _, r := range slices.Backward(c.before) {
		if r.Kind == history.KindWrite && r.Outcome == history.Applied && r.Key == c.late.Key {
			return r.Value, r.Value != c.late.Base
		}
	}
	return "", false
}

func (c *circumstance) tokens() []string {
	return []string{"A token that the service itself puts in order and that survives a change of leader: the revision, transaction id or log index of the grant. The id of a lease is not ordered, and a counter kept beside the lock can be lost or turned back with it."}
}

// service is what would have kept a lock service from giving a lock away that was somebody's. The fault only coincides,
// and the words say so.
func (c *circumstance) service() []string {
	if c.fault == nil {
		return []string{"No fault explains it: the lock service, its settings and the lock client are to be looked at first. What they said is in the logs below nodes/."}
	}
	if words := serviceRemedies[c.fault.Name]; words != "" && !c.atOlder {
		return []string{words}
	}
	return []string{"A service that gives no grant away before the lease that it acknowledged can have run out; what it said is in the logs below nodes/."}
}

// serviceRemedies are by the fault that coincides.
var serviceRemedies = map[history.F]string{
	"clock":     "If the clock is the reason: a service that counts leases on a monotonic clock, which nobody can set. Where the wall clock decides, it must be slewed, never stepped.",
	"kill":      "If the kill is the reason: a service that acknowledges a grant only when a majority of its servers has it on disk. A server that forgets what it acknowledged must stay away until every lease that it may have granted is over.",
	"failover":  "If the failover is the reason: a service that acknowledges a grant only when every server that can become the leader next has it. Replication after the answer is too late.",
	"partition": "If the partition is the reason: a service whose leader needs a majority for every grant, so that one that was cut off can neither grant nor be replaced by one that does not know its grants.",
	"pause":     "If the pause of the server is the reason: a leader that makes sure that it still leads before it answers.",
}

func (c *circumstance) release() []string {
	return []string{"A release that frees the lock only if it is still the caller's own, in one step at the server (compare and delete, by a value that nobody else has). To read first and delete then leaves time for the lock to become another's."}
}

func (c *circumstance) liveness() []string {
	return []string{"A lock whose every grant ends by itself, with a lease or a session, however its holder ended; and a service that finds a leader again once it is whole. What the servers said is in the logs below nodes/."}
}

func reasonIn(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + clip(reason, 200) + ")"
}

func valueWords(value string) string {
	if value == "" {
		return "the initial value"
	}
	return clip(value, 60)
}

package words

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"lockcheck/checker"
	"lockcheck/checker/history"
)

// Evidence is what a recording shows of a finding, as far as it decides what would have prevented it.
type Evidence struct {
	Plan     history.Plan
	Verdict  checker.Verdict // of the property
	Finding  checker.Finding
	Older    *checker.Hold     // the first hold that the finding names; nil if it names none
	Newer    *checker.Hold     // the last one; nil if it names fewer than two
	Suspects []*checker.Fault  // that its cause names, the likeliest first
	Requests []history.Request // that it names, in the resource's order
	Clients  map[string]bool   // the names of all clients of the run: a fault of anything else is one of a server
}

// Prevention says what would have prevented a violation of a property, or its harm: as far as the recording shows it, and no
// further. Nothing is known against a property that there is none of.
func Prevention(property checker.Name, e Evidence) []string {
	c := circumstance{Evidence: e}
	c.atOlder = len(c.Suspects) > 0 && c.Older != nil && c.Suspects[0].Target == c.Older.Client
	for i, r := range slices.Backward(c.Requests) {
		if r.Kind == history.KindWrite && r.Outcome == history.Applied {
			c.late, c.before = &c.Requests[i], c.Requests[:i]
			break
		}
	}
	if remedy := remedies[checker.Describe(property).Advice]; remedy != nil {
		return remedy(&c)
	}
	return nil
}

// circumstance is the evidence, and what follows from it at once.
type circumstance struct {
	Evidence
	atOlder bool             // the likeliest suspect hit the older holder
	late    *history.Request // the last write that was applied, of those that the finding names; nil if there is none
	before  []history.Request
}

// remedies are the kinds of advice.
var remedies = map[checker.Advice]func(*circumstance) []string{
	checker.AdviceBelief:   (*circumstance).belief,
	checker.AdviceHarm:     (*circumstance).harm,
	checker.AdviceTokens:   (*circumstance).tokens,
	checker.AdviceService:  (*circumstance).service,
	checker.AdviceRelease:  (*circumstance).release,
	checker.AdviceLiveness: (*circumstance).liveness,
	checker.AdviceJobs:     (*circumstance).jobs,
	checker.AdviceResource: (*circumstance).resource,
}

func (c *circumstance) belief() []string {
	switch {
	case c.Verdict == checker.Masked && c.Plan.Compares() == history.CompareKeys:
		return []string{keyedWorkIsDoneTwice}
	case c.Verdict == checker.Masked && c.Plan.Compares() == history.CompareBases:
		return []string{"Nothing had to: two clients believed, and the resource took a write only if its base was still the current value, so no update was lost. It protects each write by itself: what a holder does in several writes another may see half done."}
	case c.Verdict == checker.Masked:
		return []string{"Nothing had to: two clients believed, and the resource compared their tokens and let nothing stale through. That is what fencing is for."}
	case c.Finding.Unavoidable:
		return append([]string{"No care of the client's: both were within the time for which their clients had declared the lock valid."}, c.service()...)
	case c.atOlder && history.WordsOf(c.Suspects[0].Name).ClientRemedy != "":
		return append(c.service(), c.fencing())
	case c.atOlder && history.WordsOf(c.Suspects[0].Name).Silences:
		return []string{c.silenced(), c.fencing()}
	}
	return c.service()
}

// silenced says that no lock with leases reaches a client that can hear nothing. Whether the lease ended in that time is
// known only as far as it was acknowledged.
func (c *circumstance) silenced() string {
	client, how := c.Older.Client, history.WordsOf(c.Suspects[0].Name).State
	from, to := c.Suspects[0].InForce(math.MaxInt64)
	words := fmt.Sprintf("No lock with leases can prevent it: %s, while it was %s, could not learn that its lease, as acknowledged, had ended.", client, how)
	if lease := c.Older.LeaseNS; lease < from || lease > to {
		words = fmt.Sprintf("If the lease of %[1]s ended while it was %[2]s, no lock with leases can prevent it: %[1]s could not learn of that.", client, how)
	}
	return words + " What can be prevented is the harm."
}

// harm is what would have kept a stale write from the data.
func (c *circumstance) harm() []string {
	words := []string{c.fencing()}
	if c.Plan.Compares() == history.CompareBases {
		words = nil // which it is an alternative to
	}
	if current, differs := c.overwritten(); differs {
		words = append(words, c.comparing(current))
	} else if c.Plan.Compares() == history.CompareBases {
		words = append(words, "One write for what belongs together: compare-and-set protects each write by itself, and of a hold that writes twice another may read what is half done.")
	}
	guard, _ := history.GuardNamed(history.Guard(c.Plan.Guard))
	switch {
	case !c.atOlder: // the lock was lost before its time, or it is not known why it was
		return append(words, c.service()...)
	case guard.Asks == history.AskLatest:
		return append(words, "Not another look at the lock: the service had answered just before the write that the client held it.")
	case guard.Asks == history.AskAnyCopy:
		return append(words, "A look at the service that no old copy answers (--guard=ask) makes this rarer. It cannot rule it out: a client can be stopped between the look and the write, and a packet can come late.")
	case guard.Again:
		return append(words, "Not another look at the lock: the client had looked just before it sent the write, and believed that it held it.")
	}
	return append(words, "Another look at the lock just before the write (--guard=before-write) makes this rarer. It cannot rule it out: a client can be stopped between the look and the write, and a packet can come late.")
}

const keyedWorkIsDoneTwice = "Nothing had to: the resource answers the second record of a slot as the first. The work itself was done twice: what a job does outside of the resource needs a key of its own."

// jobs is what would have kept a job from being run twice. Of a keyed resource it is the resource's own mistake.
func (c *circumstance) jobs() []string {
	switch {
	case c.Verdict == checker.Masked:
		return []string{keyedWorkIsDoneTwice}
	case c.Plan.Keyed() && c.Plan.UnderTest != nil:
		return []string{"The resource says that it takes idempotency keys, and applied two records with one key all the same: see " + string(checker.ResourceIntegrity) + "."}
	case c.Plan.Keyed():
		return []string{"The resource takes the slot of a record as its idempotency key, and applied two records of one slot all the same."}
	}
	words := c.harm()
	if execution, _ := history.ExecutionNamed(c.Plan.Execution); execution.MarksFirst {
		return append(words, "Marking a slot before its work is no help here: the mark, too, is a write that can come late.")
	}
	return append(words, "An idempotency key: a resource that knows the slot of a record, and answers a second one as the first (--execution=idempotent).")
}

// comparing says what compare-and-set would have done with the last write, or did.
func (c *circumstance) comparing(current string) string {
	built := fmt.Sprintf("the last write was built on %s, and the value was %s by then.", valueWords(c.late.Base), valueWords(current))
	if c.Plan.Compares() == history.CompareBases {
		return "The resource compares the base of a write with the value (compare and set), and took one that differs all the same: " + built
	}
	return "A resource that takes a write only if its base is still the current value (compare and set, --resource=cas): " + built
}

// fencing says what tokens would have done, or why they did not.
func (c *circumstance) fencing() string {
	switch higher := c.superseding(); {
	case c.Plan.Tokens != history.TokensOrdered:
		return "A lock whose every grant carries a greater number, and a resource that rejects a number lower than it has seen. This lock client gives none" + reasonIn(c.Plan.TokensReason) + "."
	case c.Plan.Fenced && higher != "":
		return fmt.Sprintf("The resource compared tokens, and took token %s after token %s all the same.", c.late.Token, higher)
	case c.Plan.Fenced:
		return "Tokens that grow with every grant: the resource compared them, and had seen none that was greater."
	case higher != "":
		return fmt.Sprintf("A resource that compares fencing tokens (%s): token %s had been used before the write with token %s came, which would have been rejected.", c.fencingFlags(), higher, c.late.Token)
	}
	return "A resource that compares fencing tokens (" + c.fencingFlags() + ") rejects what comes with a lower token than it has seen."
}

// fencingFlags make of the run one whose resource compares tokens.
func (c *circumstance) fencingFlags() string {
	switch kind := c.Plan.ResourceKind(); {
	case c.Plan.Workload == "fencing", c.Plan.Jobs(): // and another resource was named
		return "--resource=fenced"
	case kind.Name == history.ResourceCAS:
		return "--workload=fencing --resource=fenced"
	}
	return "--workload=fencing"
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

// service is what would have kept a grant from being lost before its time. What is proven is that it was lost, and not who
// gave it away; the faults only coincide, and the words say so.
func (c *circumstance) service() []string {
	if c.Plan.Release != history.ReleaseChecked && c.Finding.Cause.IsRelease() { // proven to have removed it
		return c.release()
	}
	var words []string
	for _, f := range c.Suspects {
		if w := c.remedyFor(f); w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	const logs = " What they said is in the logs below nodes/."
	switch {
	case len(words) > 0:
		return words
	case len(c.Suspects) > 0:
		return []string{"If the service gave the grant away: one that gives none away before the lease that it acknowledged can have run out." + logs}
	}
	none := "No fault explains it"
	if !c.Finding.Cause.Unexplained() {
		none = "No fault of the nemesis explains it"
	}
	return []string{none + ": the lock service, its settings and the lock client are to be looked at first." + logs}
}

// remedyFor is what would have helped if this fault is the reason; "" if nothing is known to.
func (c *circumstance) remedyFor(f *checker.Fault) string {
	w := history.WordsOf(f.Name)
	suspect, remedy := w.Reason, w.Remedy
	if c.Clients[f.Target] {
		suspect, remedy = suspect+" of "+f.Target, w.ClientRemedy
	}
	if remedy == "" {
		return ""
	}
	return "If the " + suspect + " is the reason: " + remedy + "."
}

// release is advice about the release that is proven to have removed another's record. A client that is known to compare
// before it deletes needs none.
func (c *circumstance) release() []string {
	const compareAndDelete = "removes the record only if it is still the caller's own, in one step at the service (compare and delete, by a value that no other grant has). To look first and delete then leaves time for the lock to become another's."
	switch c.Plan.Release {
	case history.ReleaseUnchecked:
		return []string{"A release that " + compareAndDelete}
	case "":
		return []string{"The lock client does not declare whether its release looks whose record it removes. If it does not: one that " + compareAndDelete}
	}
	return c.service()
}

func (c *circumstance) liveness() []string {
	if c.Newer != nil && c.Older != nil && c.Older.Outcome != history.OK && c.Newer.Outcome == history.OK { // fresh sessions got what the waiters did not
		return []string{"A lock library that asks again, or subscribes again, once its connection is restored; and waiters that look at the lock from time to time, so that a wake-up that was lost only delays them."}
	}
	return []string{"A lock whose every grant ends by itself, with a lease or a session, however its holder ended; and a service that finds a leader again once it is whole. What the servers said is in the logs below nodes/."}
}

func reasonIn(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + Clip(reason, 200) + ")"
}

func valueWords(value string) string {
	if value == "" {
		return "the initial value"
	}
	return Clip(value, 60)
}

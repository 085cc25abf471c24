package words

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
)

// Evidence is what a recording shows of a finding, as far as it decides what would have prevented it.
type Evidence struct {
	Plan     history.Plan
	Verdict  model.Verdict // of the property
	Finding  model.Finding
	Older    *model.Hold       // the first hold that the finding names; nil if it names none
	Newer    *model.Hold       // the last one; nil if it names fewer than two
	Suspects []*model.Fault    // that its cause names, the likeliest first
	Requests []history.Request // that it names, in the resource's order
	Clients  map[string]bool   // the names of all clients of the run: a fault of anything else is one of a server
}

// Prevention says what would have prevented a violation of a property, or its harm: as far as the recording shows it, and no
// further. Nothing is known against a property that there is none of.
func Prevention(property model.Name, e Evidence) []string {
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
	case c.Verdict == model.Masked && c.Plan.Compares() == history.CompareKeys:
		return []string{keyedWorkIsDoneTwice}
	case c.Verdict == model.Masked && c.Plan.Compares() == history.CompareBases:
		return []string{believedUnharmed + "it accepts a write only if its base is still the current value. Compare-and-set protects each write by itself. Another client may read what a hold with several writes left half done."}
	case c.Verdict == model.Masked:
		return []string{believedUnharmed + "it compared their tokens. That is what fencing is for."}
	case c.Finding.Unavoidable:
		return append([]string{"The clients could not have known: for each, the time for which it had declared the lock valid had not expired."}, c.service()...)
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
	words := fmt.Sprintf("No lock with leases prevents this: while %s was %s, it could not learn that its acknowledged lease had expired.", client, how)
	if lease := c.Older.LeaseNS; lease < from || lease > to {
		words = fmt.Sprintf("If the lease of %[1]s expired while %[1]s was %[2]s, no lock with leases prevents this: %[1]s could not learn of it.", client, how)
	}
	return words + " Prevent the harm instead."
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
		words = append(words, "Write what belongs together in one write. Compare-and-set protects each write by itself. Another client may read what a hold with several writes left half done.")
	}
	guard, _ := history.GuardNamed(history.Guard(c.Plan.Guard))
	switch {
	case !c.atOlder: // the lock was lost before its time, or it is not known why it was
		return append(words, c.service()...)
	case guard.Asks == history.AskLatest:
		return append(words, "Another check of the lock does not help: just before the write the service answered that the client held it.")
	case guard.Asks == history.AskAnyCopy:
		return append(words, "A check that no old copy answers (--guard=ask) makes this rarer. "+rarer)
	case guard.Again:
		return append(words, "Another check of the lock does not help: the client checked just before the write and believed that it held the lock.")
	}
	return append(words, "A check of the lock just before the write (--guard=before-write) makes this rarer. "+rarer)
}

const (
	believedUnharmed     = "Two clients believed they held the lock, and no harm reached the resource: "
	keyedWorkIsDoneTwice = believedUnharmed + "it answered the second record of a slot as the first. The work itself was done twice. Give all that a job does elsewhere an idempotency key, too."
	rarer                = "It cannot prevent it: a client can pause between the check and the write, and a packet can arrive late."
)

// jobs is what would have kept a job from being run twice. Of a keyed resource it is the resource's own mistake.
func (c *circumstance) jobs() []string {
	switch {
	case c.Verdict == model.Masked:
		return []string{keyedWorkIsDoneTwice}
	case c.Plan.Keyed() && c.Plan.UnderTest != nil:
		return []string{"The resource declares idempotency keys and applied two records with one key: see " + string(model.ResourceIntegrity) + "."}
	case c.Plan.Keyed():
		return []string{"The resource uses the slot of a record as its idempotency key and applied two records of one slot."}
	}
	words := c.harm()
	if execution, _ := history.ExecutionNamed(c.Plan.Execution); execution.MarksFirst {
		return append(words, "Marking a slot before its work does not help: the mark is a write that can arrive late, too.")
	}
	return append(words, "Use the slot as an idempotency key (--execution=idempotent): the resource answers a second record of a slot as the first.")
}

// comparing says what compare-and-set would have done with the last write, or did.
func (c *circumstance) comparing(current string) string {
	built := fmt.Sprintf("the last write was built on %s, and the value was %s by then.", valueWords(c.late.Base), valueWords(current))
	if c.Plan.Compares() == history.CompareBases {
		return "The resource uses compare-and-set, and accepted a write with another base than the current value: " + built
	}
	return "Or let the resource use compare-and-set (--resource=cas), which rejects this write: " + built
}

// fencing says what tokens would have done, or why they did not.
func (c *circumstance) fencing() string {
	switch higher := c.superseding(); {
	case c.Plan.Tokens != history.TokensOrdered:
		return "Use a lock that gives a fencing token with each grant, and a resource that rejects lower tokens. This lock client gives none" + reasonIn(c.Plan.TokensReason) + "."
	case c.Plan.Fenced && higher != "":
		return fmt.Sprintf("The resource compares tokens and accepted token %s after token %s.", c.late.Token, higher)
	case c.Plan.Fenced:
		return "Use tokens that grow with every grant: the resource compares tokens and had seen no greater one."
	case higher != "":
		return fmt.Sprintf("Let the resource check fencing tokens (%s): it rejects this write, because token %s came before token %s.", c.fencingFlags(), higher, c.late.Token)
	}
	return "Let the resource check fencing tokens (" + c.fencingFlags() + "): it rejects a token lower than the highest it has seen."
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
	return []string{"Use a token that the service itself orders and that survives a change of leader: the revision, transaction id or log index of the grant. Lease ids and ETags are not ordered. A counter beside the lock can be lost or go back with it."}
}

// service is what would have kept a grant from being lost before its time. What is proven is that it was lost, and not who
// gave it away; the faults only coincide, and the words say so.
func (c *circumstance) service() []string {
	if c.Finding.Cause.IsTakeOver() || c.Plan.Release != history.ReleaseChecked && c.Finding.Cause.IsRelease() { // proven to have removed it
		return c.release()
	}
	var words []string
	for _, f := range c.Suspects {
		if w := c.remedyFor(f); w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	const logs = " The servers' logs are below nodes/."
	switch {
	case len(words) > 0:
		return words
	case len(c.Suspects) > 0:
		return []string{"If the service gave the grant away: use a service that keeps each grant until its acknowledged lease could have expired." + logs}
	}
	none := "No fault explains it"
	if !c.Finding.Cause.Unexplained() {
		none = "No fault of the nemesis explains it"
	}
	return []string{none + ": look at the lock service, its settings and the lock client first." + logs}
}

// remedyFor is what would have helped if this fault is the reason; "" if nothing is known to.
func (c *circumstance) remedyFor(f *model.Fault) string {
	w := history.WordsOf(f.Name)
	suspect, remedy := w.Reason, w.Remedy
	if c.Clients[f.Target] {
		suspect, remedy = suspect+" of "+f.Target, w.ClientRemedy
	}
	if remedy == "" {
		return ""
	}
	return "If the " + suspect + " is the reason: use " + remedy + "." + c.synced(f)
}

// syncedBy are the server settings with which a server has each grant on its disk before it acknowledges it.
var syncedBy = []struct{ name, value string }{{"appendonly", "yes"}, {"appendfsync", "always"}, {"fsync", "on"}}

// synced are the flags of such settings, after a fault in which a server of this run can have forgotten grants.
func (c *circumstance) synced(f *model.Fault) string {
	if c.Clients[f.Target] || c.Plan.Attached != nil || !slices.Contains([]history.F{history.KillFault, "restart", "power"}, f.Name) {
		return ""
	}
	var flags []string
	for _, s := range syncedBy {
		if value, known := c.Plan.Settings[s.name]; known && value != s.value {
			flags = append(flags, "--set="+s.name+"="+s.value)
		}
	}
	if len(flags) == 0 {
		return ""
	}
	return " Its servers keep each acknowledged grant on disk with " + strings.Join(flags, " ") + "."
}

// release is advice about the release that is proven to have removed another's record. A client that is known to compare
// before it deletes needs none.
func (c *circumstance) release() []string {
	const compareAndDelete = "removes the record only if it is still the caller's own, in one step at the service (compare and delete, by a value that no other grant has). Between a check and a later delete another client can get the lock."
	switch {
	case c.Finding.Cause.IsTakeOver():
		return []string{"Use a take-over that removes a record only once its lease has expired by the service's own clock, in one step at the service (compare and delete, by a value that no other grant has)."}
	case c.Plan.Release == history.ReleaseUnchecked:
		return []string{"Use a release that " + compareAndDelete}
	case c.Plan.Release == "":
		return []string{"The lock client does not declare whether its release checks whose record it removes. If it does not, use one that " + compareAndDelete}
	}
	return c.service()
}

func (c *circumstance) liveness() []string {
	if c.Newer != nil && c.Older != nil && c.Older.Outcome != history.OK && c.Newer.Outcome == history.OK { // fresh sessions got what the waiters did not
		return []string{"Use a lock library that asks or subscribes again once its connection is restored. Let waiters check the lock from time to time, so that a lost wake-up only delays them."}
	}
	return []string{"Use a lock whose every grant ends by itself, with a lease or a session, and a service that elects a leader again once its servers are healed. The servers' logs are below nodes/."}
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

// resource is advice about a resource that does not do what it says.
func (c *circumstance) resource() []string {
	words := []string{"A resource that compares, writes and logs in one transaction, and answers only after it. Between a check in one step and a write in the next, another request can come."}
	if c.Plan.ComparesBesideKeys() == history.CompareTokens {
		words = append(words, "It keeps the highest token beside each key's value, in the same transaction. It compares tokens as numbers of any size. Reads raise the highest token, rejected requests do not, and a restart keeps it.")
	}
	if c.Plan.Keyed() {
		words = append(words, "It keeps idempotency keys beside each key's value, in the same transaction, with the answer to the first write of each. It looks them up before it compares anything. A rejected write does not use its key up, and a restart keeps them.")
	}
	return append(words, "The conformance test of clusters/resource/README.md finds such mistakes in seconds.")
}

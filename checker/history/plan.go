package history

import "maps"

// Plan is plan.json: everything needed to reproduce the run, and what the checker must know of it. A run makes it once and leaves it as it
// is; what it observes (versions, the lease that was granted, what clients declared) is Observed, and joins the plan where the file is
// written. What a made-up plan does not say is left out of the file: a run with no keys, say, is refused.
type Plan struct {
	Version    int    `json:"version"` // of the three file formats: FormatVersion
	Run        string `json:"run"`
	Backend    string `json:"backend"`
	LockClient string `json:"client"`
	Workload   string `json:"workload,omitempty"`
	Nemesis    string `json:"nemesis,omitempty"`
	Guard      string `json:"guard,omitempty"`
	Provider   string `json:"provider,omitempty"`
	Seed       int64  `json:"seed"`
	Nodes      int    `json:"nodes"`
	// Fronts is how many of Nodes are servers before those that keep the service's data: no quorum counts them.
	Fronts      int   `json:"fronts,omitempty"`
	Clients     int   `json:"clients,omitempty"`
	Keys        int   `json:"keys,omitempty"`
	TimeLimitMS int64 `json:"time_limit_ms,omitempty"`
	TTLMS       int64 `json:"ttl_ms,omitempty"`           // asked for
	EffectiveMS int64 `json:"effective_ttl_ms,omitempty"` // granted
	ElectionMS  int64 `json:"election_ms"`                // how long the service may be without a leader after one fault
	// GraceMS is for how long after its end the service may still count a lease, by its design.
	GraceMS int64 `json:"grace_ms,omitempty"`
	// LockDelayMS is for how long the service then grants the lock to no client.
	LockDelayMS int64 `json:"lock_delay_ms,omitempty"`
	DriftMS     int64 `json:"drift_ms"` // taken off every lease before it counts as protection (rule R5)
	// RetryMS is for how long the lock client waits at most between two requests of one acquire, as it declares (rule J8).
	RetryMS int64 `json:"retry_ms,omitempty"`
	// Resource is what holders write to: a name of Resources. "" in recordings from before plans named it: see ResourceKind.
	Resource Resource `json:"resource,omitempty"`
	// Fenced reports whether the resource compares tokens: the workload sends them, and this resource looks at them.
	Fenced bool `json:"fenced"`
	// SlotMS and Execution are of a run of jobs: how long a slot of the schedule lasts, and a name of Executions. Zero and "" in others.
	SlotMS    int64     `json:"slot_ms,omitempty"`
	Execution Execution `json:"execution,omitempty"`
	// Work is how long holders work; nil where nothing was said: see Works.
	Work *Work `json:"work,omitempty"`
	// UnderTest is there if the resource is not lockcheck's own: a program, a URL or a database server, which is judged, too.
	UnderTest *UnderTest `json:"resource_under_test,omitempty"`

	// What the lock client declared when it was started.
	Tokens       Tokens `json:"tokens"`
	TokensReason string `json:"tokens_reason,omitempty"` // why there is no ordered token
	TryAtomic    bool   `json:"try_atomic,omitempty"`    // a failed try proves that the lock was held (rule R7)
	// Release says whether a release looks whose record it deletes (rule J5); "" if the client did not declare it.
	Release ReleaseKind `json:"release,omitempty"`
	// LeaseClock is the clock of a server that leases are counted by, or that they are counted by those of clients; "" if that is not
	// known. It only decides how a cause is worded.
	LeaseClock Clock `json:"lease_clock,omitempty"`

	// SameKernel says that harness, clients and servers share one clock (rule R10): boot ids were compared.
	SameKernel bool `json:"same_kernel"`

	// Exposure lists what must have happened for the run to have tested anything (rule J9): see Requirements.
	Exposure []Requirement `json:"exposure"`
	// Steps is the nemesis's schedule as drawn from the seed, in words that a person can read.
	Steps []string `json:"steps,omitempty"`
	// Schedule is the same for programs, and what lockcheck run --plan reads.
	Schedule []Round `json:"schedule,omitempty"`
	// PlanFile is the plan file that the schedule was read from; "" if the seed drew it from Nemesis.
	PlanFile string `json:"plan_file,omitempty"`

	Versions map[string]string `json:"versions,omitempty"` // lockcheck, go, the servers
	Images   []Image           `json:"images,omitempty"`   // that servers and clients ran from
	Settings map[string]string `json:"settings,omitempty"` // server settings that matter for the verdict
	Command  []string          `json:"command,omitempty"`  // reproduces it
	Host     map[string]string `json:"host,omitempty"`     // kernel, cpus

	// Until is what ends the load once it was found: one word, UntilViolation or UntilExposed, or names of properties, all of
	// which have to be found violated; empty if the load lasts its time.
	Until []string `json:"until,omitempty"`
	// LoadEndedNS is the stamp at which the load was ended for it; 0 if it was not.
	LoadEndedNS int64 `json:"load_ended_ns,omitempty"`

	// Attached says where the service is, if others run it; nil if lockcheck started it.
	Attached *Attached `json:"attached,omitempty"`

	// Expected is what was expected of the run before it was made; nil if nothing was. It changes no verdict.
	Expected *Expected `json:"expected,omitempty"`

	// Excerpt is there if the recording is only the part of the run that proves one finding.
	Excerpt *Excerpt `json:"excerpt,omitempty"`
}

// Observed is what a run found out of what its plan leaves open. The plan stays as it was made; plan.json has both, joined (With).
type Observed struct {
	Declared
	// Versions are those of the servers and of the lock client.
	Versions map[string]string
	Images   []Image
	// SameKernel says that harness, clients and servers share one clock (rule R10); DriftMS is taken off every lease (rule R5).
	SameKernel bool
	DriftMS    int64
	// UnderTest is what a resource under test says of itself; nil until it was asked.
	UnderTest *UnderTest
	// Attached is where a service that others run was found; nil until it was connected to.
	Attached *Attached
	// EffectiveMS is the shortest lease that the servers granted; 0 if no grant was seen.
	EffectiveMS int64
	// LoadEndedNS is when the load was ended because what it looked for was found; 0 if it was not.
	LoadEndedNS int64
}

// Declared is what a lock client says of itself when it is started (clusters/client/README.md).
type Declared struct {
	Tokens       Tokens
	TokensReason string
	TryAtomic    bool
	Release      ReleaseKind
	RetryMS      int64
}

// With is the plan with what was observed of its run: what plan.json says.
func (p Plan) With(o Observed) Plan {
	p.Tokens, p.TokensReason, p.TryAtomic, p.Release, p.RetryMS = o.Tokens, o.TokensReason, o.TryAtomic, o.Release, o.RetryMS
	p.SameKernel, p.DriftMS, p.Images, p.LoadEndedNS = o.SameKernel, o.DriftMS, o.Images, o.LoadEndedNS
	versions := map[string]string{}
	maps.Copy(versions, p.Versions)
	maps.Copy(versions, o.Versions)
	p.Versions = versions
	if o.UnderTest != nil {
		p.UnderTest, p.Fenced = o.UnderTest, o.UnderTest.Compares == ComparisonNames[CompareTokens]
	}
	if o.Attached != nil {
		p.Attached = o.Attached
	}
	if o.EffectiveMS > 0 {
		p.EffectiveMS = o.EffectiveMS
	}
	return p
}

// RecoveryMS is for how long after one fault the service may grant a lock to no client: until the lease of its holder has ended, the
// service has a leader, and it grants the lock again.
func (p *Plan) RecoveryMS() int64 { return p.EffectiveMS + p.GraceMS + p.ElectionMS + p.LockDelayMS }

// AnswerMS is for how long the harness waits for the answer to an operation that no fault touches (rule R8).
func (p *Plan) AnswerMS() int64 { return max(10_000, 5*(p.EffectiveMS+p.GraceMS)) }

// ElsewhereWords says why the servers may count time by another clock than the harness (rule R10), of a plan without SameKernel.
func (p *Plan) ElsewhereWords() string {
	if p.Attached != nil {
		return "others run the servers, on whatever machine"
	}
	if p.Provider == "local" {
		return "a lock client did not name the kernel of this machine as its own (boot_id in ready)"
	}
	return "the servers run on another machine"
}

// Attached is a service that others run, as a run found it, and what the run kept to there.
type Attached struct {
	Endpoints []AttachedEndpoint `json:"endpoints"`
	Prefix    string             `json:"prefix"`          // that the names of all locks of the run begin with
	Place     string             `json:"place,omitempty"` // where on the service that is, in words; "" if only the clients know
	MaxRate   int                `json:"max_rate"`        // acquires a second, over all clients
}

// AttachedEndpoint is one place where the service answers.
type AttachedEndpoint struct {
	Node    string `json:"node"`
	Asked   string `json:"asked"`   // "etcd-1.example:2379"
	Address string `json:"address"` // that it resolved to: "192.0.2.7:2379"
}

// ImageOfLockClients is what an image of the user's is used for; those of "clients" are lockcheck's.
const ImageOfLockClients = "lock clients"

// Image is a container image that servers or clients ran from.
type Image struct {
	Use    string `json:"use"`              // "servers", "clients" or ImageOfLockClients
	Name   string `json:"name"`             // as it was asked for
	ID     string `json:"id"`               // of its content, as the engine has it
	Digest string `json:"digest,omitempty"` // in its registry; "" for one that came from none
}

// Expected is what the author of a comparison expects of one of its runs. Of the verdicts listed for a property any will do; a
// property that is not listed must not be violated.
type Expected struct {
	From     string              `json:"from,omitempty"`   // where it is written: "lockcheck.yaml:41"
	Reason   string              `json:"reason,omitempty"` // why this is to be expected
	Verdicts map[string][]string `json:"verdicts"`         // by property
}

// UntilViolation ends the load of a run once any property was found violated.
const UntilViolation = "violation"

// UntilExposed ends the load of a run once everything has happened that its plan requires (Plan.Exposure).
const UntilExposed = "exposed"

// FreshSessions is how many sessions in a row have to get every lock in the final phase (rule J8).
const FreshSessions = 2

// FormatVersion is the version of the run directory's files that this package reads and writes.
const FormatVersion = 1

// Tokens says whether a lock client's grants carry a number that grows with each grant.
type Tokens string

// What a lock client's tokens are worth.
const (
	TokensOrdered Tokens = "ordered"
	TokensNone    Tokens = "none"
)

// ReleaseKind says how a lock client gives a lock back.
type ReleaseKind string

// What a client declares of its releases.
const (
	// ReleaseChecked: compared and deleted in one step at the service, so a release never removes another's record.
	ReleaseChecked ReleaseKind = "checked"
	// ReleaseUnchecked: the record that is there is deleted without a comparison, or it is compared in an earlier step only.
	ReleaseUnchecked ReleaseKind = "unchecked"
)

// Names of what the checker can count for a Requirement.
const (
	// ExposureContended counts the grants of a lock that another client's pending acquire waited for.
	ExposureContended = "contended-grants"
	// ExposureWriters counts the clients of which a write under a lock was handled by the resource, and answered. Every plan
	// requires two.
	ExposureWriters = "clients-that-wrote"
	// ExposureRecorders counts the clients of which the resource applied the record of a slot, ExposureSlots the slots that were
	// recorded. Plans of jobs require two of each.
	ExposureRecorders = "clients-that-recorded"
	ExposureSlots     = "recorded-slots"
	// ExposureRenewed counts the holds that lasted past the end of their first lease because it was renewed. Plans with long holds
	// require one.
	ExposureRenewed = "holds-renewed-past-their-first-lease"
	// What lock clients were asked to do in the load: ExposureLostReleases counts releases of holds that were lost before, ExposureRenewals
	// the acknowledged extensions of leases while their clients believed in a hold, ExposureGivenUp the acquires that were given up,
	// ExposureTries those that did not wait.
	ExposureLostReleases = "releases-after-a-loss"
	ExposureRenewals     = "renewals-while-held"
	ExposureGivenUp      = "acquires-given-up"
	ExposureTries        = "tries"
)

// Exposures are counted for every kind of fault by the plural of its noun ("partitions"): those that were seen to take
// effect. OfHolders, PastLease and OfServers narrow it to those that hit a client which believed it held a lock, those
// of a holder that lasted past the end of its acknowledged lease, and those that hit a server. OfResource: those that hit the resource.

// OfHolders names the exposure to faults of holders: "pauses-of-holders".
func OfHolders(faults string) string { return faults + "-of-holders" }

// PastLease names the exposure to faults that outlived a holder's lease: "pauses-past-the-lease".
func PastLease(faults string) string { return faults + "-past-the-lease" }

// OfServers names the exposure to faults of servers: "pauses-of-servers".
func OfServers(faults string) string { return faults + "-of-servers" }

// OfResource names the exposure to faults that hit the resource under test: "kills-of-the-resource".
func OfResource(faults string) string { return faults + "-of-the-resource" }

// AtOnce names the exposure to several faults of one kind at the same time, as of a majority of the servers: what is
// counted is the most that ever were in effect together. "pauses-at-once".
func AtOnce(faults string) string { return faults + "-at-once" }

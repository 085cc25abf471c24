package history

import "slices"

// FaultWords is how one kind of fault is spoken of, everywhere: in the names of exposures, in findings and stories, on the
// terminal, in the report's drawings and its advice. Adding a fault means adding an entry to the table of them; a fault that
// has none, such as one of another version of lockcheck, is called by its name.
type FaultWords struct {
	Name F // in the history, and for --nemesis
	// Exposures is the plural in names of exposures: "clock-skews".
	Exposures string
	// One and Many are one fault, several, and what there was none of: "clock skew", "clock skews", "clock skew".
	One, Many, None string
	// Began and Over are what happened to its target, after the target's name: "paused (SIGSTOP)", "resumed". One that is OfService has no Over.
	Began, Over string
	// State is what its target was while it lasted: "paused".
	State string
	// Reason is what a fault of a server is called where it may be the reason: "pause of the server".
	Reason string
	// Remedy is what a lock service would need so that such a fault of a server, if it is the reason, costs no grant; "" if
	// there is nothing to say.
	Remedy string
	// ClientRemedy is what a lock client would need so that such a fault of its own, if it is the reason, does no harm; "" if
	// there is nothing to say.
	ClientRemedy string
	// Silences says that a client which it hits can neither learn that its lease is over nor extend it.
	Silences bool
	// Hampers says that a client which it hits may learn and extend all the same, only later: that its lease ran out in that time
	// coincides with it.
	Hampers bool
	// Forgets says that a server which it hits comes back without some of what it had acknowledged, if it had not synced that.
	Forgets bool
	// OfService says that it hits the service as a whole, and is seen to work long after it began to: the target is not worth
	// naming, and it counts from when it was asked for.
	OfService bool
}

// Names of faults that rules know by name.
const (
	PauseFault     F = "pause"
	KillFault      F = "kill"
	DelayFault     F = "delay"
	FailoverFault  F = "failover"
	PartitionFault F = "partition"
)

// NothingLost is the detail of a fault of a server that Forgets, if there was nothing that it could forget.
const NothingLost = "had synced all that it had written"

// NoNemesis is what the plan of a run without any fault calls its nemesis.
const NoNemesis = "none"

// faults is the table, in the order in which exposures are listed.
var faults = []FaultWords{
	{
		Name: PauseFault, Exposures: "pauses", One: "pause", Many: "pauses", None: "pause",
		Began: "paused (SIGSTOP)", Over: "resumed", State: "paused", Silences: true,
		Reason: "pause of the server",
		Remedy: "a leader that makes sure that it still leads before it answers",
	},
	{
		Name: PartitionFault, Exposures: "partitions", One: "partition", Many: "partitions", None: "partition",
		Began: "cut off", Over: "connected again", State: "cut off", Silences: true,
		Reason: "partition",
		Remedy: "a service whose leader needs a majority for every grant, so that one that was cut off can neither grant nor be replaced by one that does not know its grants",
	},
	{
		Name: KillFault, Exposures: "kills", One: "kill", Many: "kills", None: "kill",
		Began: "killed (SIGKILL)", Over: "started again", State: "killed",
		Reason: "kill",
		Remedy: "a service that acknowledges a grant only when a majority of its servers has it on disk. A server that forgets what it acknowledged must stay away until every lease that it may have granted is over",
	},
	{
		Name: ClockFault, Exposures: "clock-skews", One: "clock skew", Many: "clock skews", None: "clock skew",
		Began: "given a skewed clock", Over: "clock restored", State: "clock changed",
		Reason:       "clock",
		Remedy:       "a service that counts leases on a monotonic clock, which cannot be set. Where the wall clock decides, it must be slewed, never stepped",
		ClientRemedy: "a client that counts its leases on a clock which cannot be set",
	},
	{
		Name: FailoverFault, Exposures: "failovers", One: "failover", Many: "failovers", None: "failover",
		Began: "asked for another leader", State: "failed over", OfService: true,
		Reason: "failover",
		Remedy: "a service that acknowledges a grant only when every server that can become the leader next has it. Replication after the answer is too late",
	},
	{
		Name: "loss", Exposures: "losses", One: "stretch of packet loss", Many: "stretches of packet loss", None: "packet loss",
		Began: "losing packets", Over: "packet loss ended", State: "losing packets", Silences: true,
		Reason: "packet loss",
	},
	{
		Name: "rate", Exposures: "rate-limits", One: "rate limit", Many: "rate limits", None: "rate limit",
		Began: "limited in what it sends", Over: "free to send again", State: "limited in what it sends", Hampers: true,
		Reason:       "rate limit",
		ClientRemedy: "a client that renews long before its lease ends, and gives its lock up where the answer does not come in time",
	},
	{
		Name: "slow", Exposures: "slowdowns", One: "slowdown", Many: "slowdowns", None: "slowdown",
		Began: "slowed (a share of its processor)", Over: "at full speed again", State: "slowed", Hampers: true,
		Reason:       "slowdown of the server",
		Remedy:       "a leader that makes sure that it still leads before it answers",
		ClientRemedy: "a client that renews long before its lease ends, and compares the lease's end with its own clock each time before it goes on",
	},
	{
		Name: "restart", Exposures: "restarts", One: "restart", Many: "restarts", None: "restart",
		Began: "stopped in good order (SIGTERM)", Over: "started again", State: "restarted",
		Reason: "restart",
		Remedy: "a service that acknowledges a grant only when a majority of its servers has it on disk, so that its servers can be restarted one after another",
	},
	{
		Name: DelayFault, Exposures: "delays", One: "network delay", Many: "network delays", None: "network delay",
		Began: "delayed", Over: "network delay ended", State: "delayed",
		Reason:       "network delay",
		Remedy:       "a leader that makes sure that it still leads before it answers",
		ClientRemedy: "a client that counts its lease from when it asked for it, not from when the answer came, and gives its lock up once that time is over",
	},
	{
		Name: "disk", Exposures: "disk-faults", One: "disk fault", Many: "disk faults", None: "disk fault",
		Began: "hit by a disk fault", Over: "given back a healthy disk", State: "on a faulty disk",
		Reason: "disk fault of the server",
		Remedy: "a leader that, once its disk answers again, makes sure that it still leads before it ends a lease, and a server that ends itself when a sync fails",
	},
	{
		Name: "power", Exposures: "power-cuts", One: "power cut", Many: "power cuts", None: "power cut",
		Began: "lost its power (SIGKILL)", Over: "given power again", State: "without power", Forgets: true,
		Reason: "power cut",
		Remedy: "a service that acknowledges a grant only when it is synced to the disks of a majority of its servers (of the only one, where it is alone)",
	},
}

// Faults is the table of all faults that there are words for.
func Faults() []FaultWords { return slices.Clone(faults) }

// WordsOf are the words for a fault. One that is not in the table is called by its name.
func WordsOf(name F) FaultWords {
	if i := slices.IndexFunc(faults, func(w FaultWords) bool { return w.Name == name }); i >= 0 {
		return faults[i]
	}
	plain := string(name)
	return FaultWords{
		Name: name, Exposures: plain + "s", One: plain, Many: plain + "s", None: plain,
		Began: "hit by " + plain, Over: "free of " + plain, State: "hit by " + plain, Reason: plain,
	}
}

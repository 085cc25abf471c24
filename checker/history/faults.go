package history

import "slices"

// FaultWords is how one kind of fault is spoken of, everywhere: in the names of exposures, in findings and stories, on the
// terminal, in the report's drawings and its advice. A fault that has no entry in the table, such as one of another version of
// lockcheck, is called by its name.
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
	// Outlasts says that one of a holder which is meant to last longer than its lease has to have done so.
	Outlasts bool
	// OfService says that it hits the service as a whole, and is seen to work long after it began to: the target is not worth
	// naming, and it counts from when it was asked for.
	OfService bool
}

// FaultKind is one kind of fault as pure data. A fault is added by one entry here, and by a file of package nemesis that says how it is done
// (nemesis/README.md has its row from here: go generate ./cmd/lockcheck).
type FaultKind struct {
	FaultWords

	About string // one line for lockcheck list
	// Default is the mix that the bare name stands for: the first is drawn every second time, because it is what a run
	// under this kind is for; the others in between.
	Default string

	Targets []string   // that it can be aimed at, the default one first; none: it is aimed at the service as a whole
	Usual   Magnitudes // filled in where none was asked for
	Takes   Parts
	Options []string // that are words, for example "empty"
	Single  bool     // a target suffers one at a time
	Halts   bool     // it stops and continues processes: the end of one such fault continues what another one has stopped
	// SpoilsTransfers says that under it a transfer of a measured length shows no limit of a rate: it is slower itself.
	SpoilsTransfers bool

	Capability Capability // of the helper on its target's host, or of the service; "" for none
	OwnNetwork bool       // it acts on a host's network, which has to be the host's own
	// Machine names what the kernel has to be able to do, as lockcheck doctor does; Lacking is of what doctor says that there is none
	// without it: "clock skew".
	Machine []string
	Lacking string

	// Happens, Confirmed and Limits are its row in nemesis/README.md.
	Happens, Confirmed, Limits string
}

// Magnitudes are written as the grammar of faults has them: "1.5..2.2ttl", "30%".
type Magnitudes struct {
	For   string // how long
	Rest  string // of a fault that does not last: how long until the next one
	Shift string
	Share string
	Rate  string
	Delay string
}

// Parts says which parts of the grammar mean something to a kind of fault.
type Parts struct{ Peer, Shift, Drift, Share, Rate, Delay, Latency bool }

// Capability is something that the helper on a host has to be able to do, or the service.
type Capability string

// The capabilities.
const (
	CapabilityNetwork  Capability = "network"  // drop packets
	CapabilityDelay    Capability = "delay"    // hold packets back
	CapabilityClock    Capability = "clock"    // change the clock that a process sees
	CapabilityFailover Capability = "failover" // change the leader when asked
	CapabilityRate     Capability = "rate"     // limit what a host sends
	CapabilitySlow     Capability = "slow"     // stop and continue processes in short turns
	CapabilityDisk     Capability = "disk"     // hosts whose data lies on disks that can be made to fail
	CapabilityPower    Capability = "power"    // the same, and the disks know what was not synced
)

// OwnNetwork reports whether a capability acts on the network of its host, which has to be the host's own.
func (c Capability) OwnNetwork() bool {
	return slices.ContainsFunc(faults, func(k FaultKind) bool { return k.Capability == c && k.OwnNetwork })
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

// outlivesLease is what a pause needs to outlive a lease for sure: servers were seen to drop a 2 s lease after 2.0 to 2.5 s.
const outlivesLease = "1.5..2.2ttl"

// AtOnceOption is the word of a fault whose targets start again as soon as all of them are gone.
const AtOnceOption = "at-once"

// Targets that several faults have.
var (
	anyClientOrServer = []string{"one", "minority", "majority", "all", "leader", "follower", "node", "apiserver", "holder", "waiter", "client", "clients"}
	serversOfData     = []string{"leader", "follower", "one", "minority", "majority", "all", "node"}
)

// faults is the table, in the order in which exposures and nemeses are listed.
var faults = []FaultKind{
	{
		FaultWords: FaultWords{
			Name: PauseFault, Exposures: "pauses", One: "pause", Many: "pauses", None: "pause",
			Began: "paused (SIGSTOP)", Over: "resumed", State: "paused", Silences: true, Outlasts: true,
			Reason: "pause of the server",
			Remedy: "a leader that makes sure that it still leads before it answers",
		},
		About:   "SIGSTOP and SIGCONT: holders at work past their lease, and shorter pauses of any client or server",
		Default: "pause:holder@work,1.5..2.2ttl,pause:holder@work,0.1..0.8ttl,pause:client,0.1..0.8ttl,pause:one,0.1..0.8ttl",
		Targets: []string{"holder", "waiter", "client", "clients", "leader", "follower", "one", "minority", "majority", "all", "node", "apiserver", "resource"},
		Usual:   Magnitudes{For: outlivesLease}, Halts: true,
		Happens:   "SIGSTOP, later SIGCONT",
		Confirmed: "every thread is read back as stopped, then as running",
		Limits:    "a server that waits for its disk cannot be seen to be paused",
	},
	{
		FaultWords: FaultWords{
			Name: PartitionFault, Exposures: "partitions", One: "partition", Many: "partitions", None: "partition",
			Began: "cut off", Over: "connected again", State: "cut off", Silences: true, Outlasts: true,
			Reason: "partition",
			Remedy: "a service whose leader needs a majority for every grant, so that one that was cut off can neither grant nor be replaced by one that does not know its grants",
		},
		About:   "drops packets, both ways or one (in, out): a holder from all others, servers from each other, any pair of sides",
		Default: "partition:holder@work,1.5..2.2ttl,partition:leader,1.2..2.2ttl,partition:holder-servers@work,1.5..2.2ttl,partition:minority,1.2..2.2ttl,partition:bridge,1.2..2.2ttl,partition:client,0.2..1ttl",
		Targets: []string{"holder", "waiter", "client", "clients", "leader", "follower", "one", "minority", "majority", "node", "apiserver", "bridge"},
		Usual:   Magnitudes{For: outlivesLease}, Takes: Parts{Peer: true}, Options: []string{"in", "out"},
		Capability: CapabilityNetwork, OwnNetwork: true, Machine: []string{"nftables"}, Lacking: "partitions",
		Happens:   "packets are dropped, both ways or one (`in`, `out`)",
		Confirmed: "packets sent on each link in each direction do not arrive; afterwards they do",
		Limits:    "needs network namespaces or containers",
	},
	{
		FaultWords: FaultWords{
			Name: KillFault, Exposures: "kills", One: "kill", Many: "kills", None: "kill",
			Began: "killed (SIGKILL)", Over: "started again", State: "killed",
			Reason: "kill",
			Remedy: "a service that acknowledges a grant only when a majority of its servers has it on disk. A server that forgets what it acknowledged must stay away until every lease that it may have granted is over",
		},
		About:   "SIGKILL and restart: servers with their data, or without (empty), after a while or at once (at-once); clients; a resource under test",
		Default: "kill:leader@work,kill:one@work,kill:holder@work,kill:minority@work",
		Targets: []string{"leader", "follower", "one", "minority", "majority", "all", "node", "apiserver", "holder", "waiter", "client", "resource"},
		Usual:   Magnitudes{For: "0.2..1ttl"}, Options: []string{"empty", AtOnceOption},
		Happens:   "SIGKILL. Servers start again with their data or without (`empty`), after a while or `at-once` (of several: once all are gone). Another client takes a dead client's place",
		Confirmed: "the process is gone; the server's next one runs",
		Limits:    "the kernel still writes what it had taken: for that loss use `power`",
	},
	{
		FaultWords: FaultWords{
			Name: ClockFault, Exposures: "clock-skews", One: "clock skew", Many: "clock skews", None: "clock skew",
			Began: "given a skewed clock", Over: "clock restored", State: "clock changed",
			Reason:       "clock",
			Remedy:       "a service that counts leases on a monotonic clock, which cannot be set. Where the wall clock decides, it must be slewed, never stepped",
			ClientRemedy: "a client that counts its leases on a clock which cannot be set",
		},
		About:   "the wall clock or the monotonic clock of one process: jumps (+90s, -1ttl) and drift (drift=5%)",
		Default: "clock:majority+1.2..3ttl@work,clock:one+1.2..3ttl,clock:one-1.2..3ttl,clock:leader+1.2..3ttl@work,clock:client+1.2..3ttl,clock:one,drift=10%",
		Targets: anyClientOrServer,
		Usual:   Magnitudes{For: "0.5..1.5ttl", Shift: "1.2..3ttl"}, Takes: Parts{Shift: true, Drift: true}, Options: []string{"wall", "monotonic"},
		Capability: CapabilityClock, Machine: []string{"ptrace", "vdso"}, Lacking: "clock skew",
		Happens:   "the wall clock (or `monotonic`) of one server or client jumps or drifts, in all its processes",
		Confirmed: "the clock is read as each process reads it",
		Limits:    "Linux on amd64 only. Changes what a process *reads*, not when its timers fire. `monotonic` is refused for a JVM: it reads a deadline from that clock, and waits for it by the kernel's. A program that a server starts later sees the true time. The machine's clock is never touched",
	},
	{
		FaultWords: FaultWords{
			Name: FailoverFault, Exposures: "failovers", One: "failover", Many: "failovers", None: "failover",
			Began: "asked for another leader", State: "failed over", OfService: true,
			Reason: "failover",
			Remedy: "a service that acknowledges a grant only when every server that can become the leader next has it. Replication after the answer is too late",
		},
		About:      "asks the backend to change its leader: etcd move-leader, Sentinel failover, ZooKeeper and Consul leader restart",
		Default:    "failover@work",
		Usual:      Magnitudes{For: "0.3..1ttl"},
		Capability: CapabilityFailover,
		Happens:    "the service is asked for another leader",
		Confirmed:  "the service names another leader",
		Limits:     "refused for a service without a leader",
	},
	{
		FaultWords: FaultWords{
			Name: "loss", Exposures: "losses", One: "stretch of packet loss", Many: "stretches of packet loss", None: "packet loss",
			Began: "losing packets", Over: "packet loss ended", State: "losing packets", Silences: true,
			Reason: "packet loss",
		},
		About:   "random packet loss between a target and the others (30%)",
		Default: "loss:holder@work,30%,0.5..2ttl,loss:leader,30%,0.5..2ttl,loss:client,60%,0.5..2ttl",
		Targets: []string{"holder", "waiter", "client", "clients", "leader", "follower", "one", "minority", "majority", "node", "apiserver"},
		Usual:   Magnitudes{For: "0.5..2ttl", Share: "30%"}, Takes: Parts{Peer: true, Share: true}, Options: []string{"in", "out"},
		SpoilsTransfers: true,
		Capability:      CapabilityNetwork, OwnNetwork: true, Machine: []string{"nftables"}, Lacking: "packet loss",
		Happens:   "a share of the packets is dropped",
		Confirmed: "the rule is in the kernel",
		Limits:    "which packets are lost is random",
	},
	{
		FaultWords: FaultWords{
			Name: "rate", Exposures: "rate-limits", One: "rate limit", Many: "rate limits", None: "rate limit",
			Began: "limited in what it sends", Over: "free to send again", State: "limited in what it sends", Hampers: true,
			Reason:       "rate limit",
			ClientRemedy: "a client that renews long before its lease ends, and gives its lock up where the answer does not come in time",
		},
		About:   "limits what a target's host sends, to all others, with a queue before the limit (1mbit)",
		Default: "rate:holder@work,16kbit,1.5..3ttl,rate:leader,64kbit,0.5..2ttl,rate:client,16kbit,0.5..2ttl",
		Targets: anyClientOrServer,
		Usual:   Magnitudes{For: "1.5..3ttl", Rate: "64kbit"}, Takes: Parts{Rate: true}, Single: true,
		Capability: CapabilityRate, OwnNetwork: true, Machine: []string{"tbf"}, Lacking: "limits of a rate",
		Happens:   "limits what the target's host sends (`1mbit`). Packets above the limit wait in a queue of 0.4 s, at least four packets long. The kernel drops those that do not fit",
		Confirmed: "a measured transfer is no faster than the limit; afterwards one is faster",
		Limits:    "`8kbit` to `20mbit`. Never limits what a host receives. Refused in one sequence with `loss` or `delay`. One rate at a time",
	},
	{
		FaultWords: FaultWords{
			Name: "slow", Exposures: "slowdowns", One: "slowdown", Many: "slowdowns", None: "slowdown",
			Began: "slowed (a share of its processor)", Over: "at full speed again", State: "slowed", Hampers: true,
			Reason:       "slowdown of the server",
			Remedy:       "a leader that makes sure that it still leads before it answers",
			ClientRemedy: "a client that renews long before its lease ends, and compares the lease's end with its own clock each time before it goes on",
		},
		About:   "a share of its processor, in short turns of stop and continue (10%): a client or server that is neither dead nor alive",
		Default: "slow:holder@work,10%,1.5..3ttl,slow:client,5%,1..2ttl,slow:one,10%,0.5..2ttl",
		Targets: anyClientOrServer,
		Usual:   Magnitudes{For: "1.5..3ttl", Share: "10%"}, Takes: Parts{Share: true}, Single: true, Halts: true,
		Capability: CapabilitySlow, Machine: []string{"schedstat"}, Lacking: "processes that are slowed",
		Happens:   "the process gets a share of the time (`10%`): SIGSTOP and SIGCONT in turns of about 50 ms",
		Confirmed: "every thread is read back as stopped and running; the share is measured over all turns",
		Limits:    "`2%` to `90%`. Stops all threads at once. On a busy machine a process may get less than its share, never more. One share at a time",
	},
	{
		FaultWords: FaultWords{
			Name: "restart", Exposures: "restarts", One: "restart", Many: "restarts", None: "restart",
			Began: "stopped in good order (SIGTERM)", Over: "started again", State: "restarted",
			Reason: "restart",
			Remedy: "a service that acknowledges a grant only when a majority of its servers has it on disk, so that its servers can be restarted one after another",
		},
		About:   "SIGTERM and start with their data: servers at once, or in turn, the leader last, each when the whole service works again (rolling)",
		Default: "restart:all,rolling",
		Targets: []string{"all", "leader", "follower", "one", "minority", "majority", "node", "apiserver"},
		Usual:   Magnitudes{For: "0.1..0.5ttl"}, Options: []string{InTurn},
		Happens:   "SIGTERM (PostgreSQL: SIGINT), then a start with the data: all at once, or `rolling`: the leader last, each once the service works again",
		Confirmed: "the process has ended, and the record says how; the next one runs and is ready",
		Limits:    "a server that does not end within 20 s is killed, and that restart does not count. A rolling restart of etcd takes about 23 s for three members and 40 s for five. Use `--until=exposed` with a long `--time-limit`",
	},
	{
		FaultWords: FaultWords{
			Name: DelayFault, Exposures: "delays", One: "network delay", Many: "network delays", None: "network delay",
			Began: "delayed", Over: "network delay ended", State: "delayed",
			Reason:       "network delay",
			Remedy:       "a leader that makes sure that it still leads before it answers",
			ClientRemedy: "a client that counts its lease from when it asked for it, not from when the answer came, and gives its lock up once that time is over",
		},
		About:   "holds packets back, both ways or one (in, out): delay:holder-servers,300ms±100ms (or 300ms+-100ms), then for how long",
		Default: "delay:holder@work,1.2..1.6ttl,1.5..2.2ttl,delay:leader,0.1ttl±0.05ttl,0.5..2ttl,delay:client,0.05..0.3ttl,0.5..2ttl",
		Targets: []string{"holder", "waiter", "client", "clients", "leader", "follower", "one", "minority", "majority", "node", "apiserver"},
		Usual:   Magnitudes{For: "0.5..2ttl", Delay: "0.25ttl"}, Takes: Parts{Peer: true, Delay: true}, Options: []string{"in", "out"},
		SpoilsTransfers: true,
		Capability:      CapabilityDelay, OwnNetwork: true, Machine: []string{"delay"}, Lacking: "network delay",
		Happens:   "packets are held, both ways or one, for a time that varies between its bounds; none is lost, and their order stays",
		Confirmed: "lockcheck sends datagrams on each link, with their sending time. Each takes at least the delay. The fastest takes at most 10 % more (2 ms, if that is longer). After the fault they take less",
		Limits:    "1 ms to 1 min; [details](#delays)",
	},
	{
		FaultWords: FaultWords{
			Name: "disk", Exposures: "disk-faults", One: "disk fault", Many: "disk faults", None: "disk fault",
			Began: "hit by a disk fault", Over: "given back a healthy disk", State: "on a faulty disk",
			Reason: "disk fault of the server",
			Remedy: "a leader that, once its disk answers again, makes sure that it still leads before it ends a lease, and a server that ends itself when a sync fails",
		},
		About: "a server's disk stands still (stall), is slow (slow=50ms) or fails with EIO (error), for reads, writes, syncs or all",
		Default: "disk:leader@work,stall,1.5..2.2ttl,disk:one,stall,1.5..2.2ttl,disk:one,slow=50ms,0.5..2ttl,disk:one,error,0.2..1ttl," +
			"disk:minority,stall,syncs,0.5..1.5ttl",
		Targets: serversOfData,
		Usual:   Magnitudes{For: outlivesLease}, Takes: Parts{Latency: true}, Options: []string{"stall", "error", "reads", "writes", "syncs"},
		Capability: CapabilityDisk, Machine: []string{"fuse"}, Lacking: "faults of disks",
		Happens:   "a server's disk stands still (`stall`), is slow (`slow=50ms`) or fails with EIO (`error`), for `reads`, `writes`, `syncs` or all",
		Confirmed: "a process of lockcheck reads, writes and syncs on the same mount",
		Limits:    "provider `local` only, with namespaces and `/dev/fuse`. A leader with nothing to write does not notice. `syncs` alone is refused where the settings sync nothing. A server that ends on its failing disk starts again after the fault",
	},
	{
		FaultWords: FaultWords{
			Name: "power", Exposures: "power-cuts", One: "power cut", Many: "power cuts", None: "power cut",
			Began: "lost its power (SIGKILL)", Over: "given power again", State: "without power", Forgets: true,
			Reason: "power cut",
			Remedy: "a service that acknowledges a grant only when it is synced to the disks of a majority of its servers (of the only one, where it is alone)",
		},
		About: "SIGKILL, and all that was not synced is gone, or only a part of it (torn; journaled: names as ext4 and XFS keep them); servers start " +
			"again from what is left, at once or after a while (1ttl)",
		Default: "power:majority@work,power:leader@work,power:all@work,power:one@work",
		Targets: serversOfData,
		Usual:   Magnitudes{Rest: "0.2..1ttl"}, Options: []string{"torn", "journaled", AtOnceOption},
		Capability: CapabilityPower, Machine: []string{"fuse"}, Lacking: "power cuts",
		Happens:   "SIGKILL, and what a server had not synced is gone. It starts again from the rest, at once or after a while (`1ttl`)",
		Confirmed: "a process of lockcheck writes on the same mount with and without sync; afterwards only the synced file is there",
		Limits:    "as `disk`; [details](#power-cuts)",
	},
}

// Faults is the table of all faults.
func Faults() []FaultKind { return slices.Clone(faults) }

// WordsOf are the words for a fault. One that is not in the table is called by its name.
func WordsOf(name F) FaultWords {
	if i := slices.IndexFunc(faults, func(k FaultKind) bool { return k.Name == name }); i >= 0 {
		return faults[i].FaultWords
	}
	plain := string(name)
	return FaultWords{
		Name: name, Exposures: plain + "s", One: plain, Many: plain + "s", None: plain,
		Began: "hit by " + plain, Over: "free of " + plain, State: "hit by " + plain, Reason: plain,
	}
}

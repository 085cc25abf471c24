package harness

import (
	"fmt"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/backend/other"
	"lockcheck/clusters/provider/docker"
	"lockcheck/nemesis"
	"lockcheck/reports/compare"
	"lockcheck/reports/rundir"
	"lockcheck/workloads"
)

const fromImage = "containers take their servers from an image: name it with --" + clusters.FlagImage

// Flags is the table of the flags of lockcheck run, in the order in which commands repeat them.
var Flags = []Flag{
	{
		Name: "backend", At: func(o *Options) any { return &o.Backend },
		Help: "the lock service: " + strings.Join(BackendNames(), ", ") + "; " + other.Name + ": " + other.Backend{}.About(),
	},
	{
		Name: "client", At: func(o *Options) any { return &o.Client }, Where: InFile,
		Help:     "the lock client: one of the backend's (default: its first), or the path of a program that speaks the client protocol",
		Rule:     Rule{Check: printable},
		Provider: Local, If: isProgram,
		Instead: "containers do not have this machine's programs: take a lock client that comes with the backend",
	},
	{
		Name: clusters.FlagClientImage, At: func(o *Options) any { return &o.Where.ClientImage }, Where: InFile | InCompare,
		Help:     "docker: the image of a lock client that speaks the client protocol; it runs its own command, or the one after --",
		Provider: docker.Name, Instead: "programs of this machine are named with --client=./NAME",
	},
	{
		Name: "client-arg", At: func(o *Options) any { return &o.ClientArgs }, Where: InFile | InCompare,
		Help:     "docker: one `word` of the command for --client-image, in place of the image's own; may be repeated; or write all words after --",
		Provider: docker.Name, Instead: "programs of this machine are named with --client='./NAME WORD…'",
	},
	{
		Name: "workload", At: func(o *Options) any { return &o.Workload }, Default: "lock",
		Help: "what clients do: " + strings.Join(workloads.Names(), ", "),
	},
	{
		Name: "resource", At: func(o *Options) any { return &o.Resource }, Where: InFile | InCompare,
		Help: "what holders write to: " + strings.Join(history.ResourceNames(), ", ") + " (default: " + workloads.DefaultResources() +
			"), or a program or URL of yours, which is tested, too",
		Rule:     resourceRule(),
		Provider: Local, If: ofThisMachine,
		Instead: "containers have neither this machine's programs nor its certificates: take an http:// URL, or one of " + strings.Join(history.ResourceNames(), ", "),
	},
	{
		Name: "nemesis", At: func(o *Options) any { return &o.Nemesis }, Default: history.NoNemesis,
		Help: "what disturbs them: " + strings.Join(nemesis.Names(), ", ") + "; with targets, triggers and magnitudes (lockcheck list)",
	},
	{
		Name: "guard", At: func(o *Options) any { return &o.Guard }, Default: string(history.GuardBeforeWork), Where: InFile | InCompare,
		Help: "where clients look at their lock before they write: " + strings.Join(history.GuardNames(), ", "),
		Rule: oneOf("guard", history.GuardNames()),
	},
	{
		Name: "slot", At: func(o *Options) any { return &o.Slot }, Where: InFile | InCompare, Workload: workloads.Jobs,
		Help: "workload jobs: the time from one slot of its schedule to the next (default: " + defaultSlot.String() + ")",
		Rule: span(minSlot, time.Hour),
	},
	{
		Name: "execution", At: func(o *Options) any { return &o.Execution }, Where: InFile | InCompare, Workload: workloads.Jobs,
		Help: "workload jobs: when a slot is recorded: " + strings.Join(history.ExecutionNames(), ", ") + " (default: " + history.ExecutionNames()[0] + ")",
		Rule: oneOf("execution", history.ExecutionNames()),
	},
	{
		Name: clusters.FlagProvider, At: func(o *Options) any { return &o.Where.Provider }, Default: Auto, Where: InFile | InCompare | BesideReplay,
		Help: "where it runs: " + strings.Join(ProviderNames(), ", ") + "; auto takes the first that can run the backend here",
		Rule: oneOf("provider", ProviderNames()),
	},
	{
		Name: clusters.FlagServerBin, At: func(o *Options) any { return &o.Where.ServerPaths.Bin }, Where: InFile | InCompare | BesideReplay,
		Help:     "local: the server's program, or the directory it is in; several as in PATH, for --" + clusters.FlagVersion + " (default: PATH and the default places)",
		Provider: Local, Instead: fromImage,
	},
	{
		Name: clusters.FlagVersion, At: func(o *Options) any { return &o.Where.ServerPaths.Version }, Where: InFile | InCompare | BesideReplay,
		Help:     "local: the version of the servers, or what it begins with, such as 3.4 (default: the first that is found; scripts/servers NAME@VERSION builds others)",
		Rule:     versionRule,
		Provider: Local, Instead: fromImage,
	},
	{
		Name: clusters.FlagServerJar, At: func(o *Options) any { return &o.Where.ServerPaths.Jar }, Where: InFile | InCompare | BesideReplay,
		Help:     "local: ZooKeeper's jar, or the directory of its jars",
		Provider: Local, Instead: fromImage,
	},
	{
		Name: clusters.FlagImage, At: func(o *Options) any { return &o.Where.Image }, Where: InFile | InCompare | BesideReplay,
		Help:     "docker: the image of the servers (default: $LOCKCHECK_IMAGE_<BACKEND>, else the official one)",
		Provider: docker.Name, Instead: "servers of this machine are named with --" + clusters.FlagServerBin,
	},
	{
		Name: clusters.FlagAttach, At: func(o *Options) any { return &o.Attach }, Where: InFile | InCompare,
		Help: "test a running service of this backend at `host:port,...`; lockcheck never starts or stops it",
		Rule: endpoints,
	},
	{
		Name: clusters.FlagAttachConfig, At: func(o *Options) any { return &o.AttachConfig }, Where: InFile | InCompare,
		Help: "file (YAML or JSON) with connection settings and credentials: " + strings.Join(accessNames, ", ") + "; or $" + clusters.EnvPassword,
	},
	{
		Name: clusters.FlagMaxRate, At: func(o *Options) any { return &o.MaxRate }, Where: InFile | InCompare,
		Help: fmt.Sprintf("with --%s: maximum acquires a second, of all clients and all parallel runs together (compare --jobs, --shard) (default: %d)", clusters.FlagAttach, DefaultMaxRate),
		Rule: number(1, 1_000_000, ""),
	},
	{
		Name: "clients", At: func(o *Options) any { return &o.Clients }, Default: 5, Where: InFile | InCompare,
		Help: "lock clients, each a process of its own (2 to 100)",
		Rule: number(2, 100, "one client alone contends with no other"),
	},
	{
		Name: "keys", At: func(o *Options) any { return &o.Keys }, Default: 1, Where: InFile | InCompare,
		Help: "locks (1 to 1000)",
		Rule: number(1, 1000, ""),
	},
	{
		Name: clusters.FlagNodes, At: func(o *Options) any { return &o.Nodes }, Where: InFile | InCompare,
		Help: "servers (default: the backend's default number)",
		Rule: number(1, 1000, "the backend may allow fewer"),
	},
	{
		Name: clusters.FlagTTL, At: func(o *Options) any { return &o.TTL }, Default: 2 * time.Second, Where: InFile | InCompare,
		Help: "time to live of a lease",
		Rule: span(time.Millisecond, 24*time.Hour),
	},
	{
		Name: "time-limit", At: func(o *Options) any { return &o.TimeLimit }, Default: 30 * time.Second, Where: InFile | InCompare,
		Help: "how long clients work, before the final phase",
		Rule: span(time.Second, 24*time.Hour),
	},
	{
		Name: "work", At: func(o *Options) any { return &o.Work }, Where: InFile | InCompare,
		Help: "how long holders work, as `shortest..longest`, and words after a comma for what else clients do: " + history.LongWork + " (some holds last for 1.2 to 2.5 leases), " + history.LongWorkIf + " (the same, where clients renew leases), " + history.TriesWork + " (some acquires do not wait), " + history.GivenUpWork + " (some acquires are given up) (default: " + history.DefaultWork.String() + "," + history.TriesWork + "," + history.GivenUpWork + "; " + history.LongWorkIf + ", too, with nemesis none and kill; workload jobs: " + history.DefaultWork.String() + ")",
		Rule: workRule,
	},
	{
		Name: compare.FlagUntil, At: func(o *Options) any { return &o.Until }, Where: InFile | InCompare,
		Help: "end the load once this was found: violation (of any property), exposed (all required situations have occurred), or each property of a list: " + strings.Join(FoundEarly(), ","),
		Rule: untilFound,
	},
	{
		Name: "seed", At: func(o *Options) any { return &o.Seed }, ZeroCounts: true, Where: OfComparison,
		Help: "random seed: faults, targets and times follow from it (default: drawn, and printed)",
	},
	{
		Name: clusters.FlagSet, At: func(o *Options) any { return &o.Set }, Where: InFile | InCompare,
		Help: "override a server setting: `name=value`",
	},
	{
		Name: "out", At: func(o *Options) any { return &o.Out }, Default: rundir.DefaultOut, Where: OfComparison | BesideReplay | OfOutput,
		Help: "directory for run directories",
	},
}

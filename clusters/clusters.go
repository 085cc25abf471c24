// Package clusters says what a lock service is to lockcheck and how one is started: a Provider makes a private network
// of hosts, a Backend lays its servers out on them, and the Cluster is what runs. Providers and backends know nothing
// of each other. What only some can do is an interface of its own, found by type assertion.
// Rules cited by number (J8) are in checker/RULES.md.
package clusters

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
	"lockcheck/clusters/provider/disk"
	"lockcheck/clusters/provider/procs"
)

// Provider makes the places where servers, clients and the resource run.
type Provider interface {
	Name() string
	// Open makes a run's private network. Everything made through the Site dies with it, and with the harness.
	Open(ctx context.Context, spec SiteSpec) (Site, error)
}

// SiteSpec is what a provider needs to know of a run.
type SiteSpec struct {
	Run      string   // the run's id
	LogDir   string   // nodes/<host>/<log>.log go below this directory
	Software Software // of the backend's servers
	Program  string   // a program of this machine that clients are, and that hosts have to have; "" for none
	// Disks names the hosts whose data lies on disks that faults can hit (Disked). A provider that has none refuses that by
	// an error that wraps ErrUnavailable.
	Disks []string
	// PowerCuts says that these disks have to know what was not synced on them, and can lose it.
	PowerCuts bool
}

// Site is the private network of one run.
type Site interface {
	// Host makes a host with an address, and where the provider can with a network namespace, of its own. A host's
	// address and network outlive the processes on it. The name is unique in the run.
	Host(ctx context.Context, name string) (Host, error)
	// Isolated reports whether hosts have networks of their own; if not, the text says why and what would help.
	Isolated() (bool, string)
	// Server is what starts one of the backend's servers here: to be completed with arguments, log and data, and given to
	// Host.Start. The error wraps ErrUnavailable and says what to install.
	Server(ctx context.Context) (Command, error)
	// Dial connects the harness to a server of the run, past everything that faults can touch but the server itself.
	Dial(ctx context.Context, network, addr string) (net.Conn, error)
	// SharesFiles reports whether processes on its hosts see the harness's files under the same paths.
	SharesFiles() bool
	// Close ends every process and removes everything. It may be called more than once. An error wraps ErrLeft if all was
	// ended, and only removing it failed.
	Close() error
}

// Shared is a site that can have servers of another software, too, which nothing on the machine has to bring.
type Shared interface {
	// For is the same site for servers of another software: hosts that are made there are for them, and Server starts them. The
	// error wraps ErrUnavailable and says what would bring them.
	For(ctx context.Context, software Software) (Site, error)
}

// Provenance is a site that knows what it was made from (images and their digests), for the plan of the run.
type Provenance interface {
	Provenance() []Image
}

// Image is what a container ran from.
type Image struct {
	Use    string // "servers", "clients" (lockcheck itself) or "lock clients" (of the user's image)
	Name   string // as it was asked for
	ID     string // of its content, as the engine has it
	Digest string // in its registry; "" for one that came from none
}

// PrivilegedHost is a host on which lockcheck itself (Command.Program == "") can be started with the capabilities that faults need:
// to program the host's network, and to stop the servers' processes and change their clocks. On other hosts Start does that.
type PrivilegedHost interface {
	StartAgent(ctx context.Context, cmd Command) (Process, error)
}

// Host is a place with an address where processes run.
type Host interface {
	Name() string
	Addr() string // an IP address, reachable from every host of the run and through Site.Dial
	// DataDir is where processes started with Command.Data = name find that directory. It outlives them and vanishes
	// with the run.
	DataDir(name string) (string, error)
	// Wipe empties that directory. No process that uses it may be running.
	Wipe(ctx context.Context, name string) error
	Start(ctx context.Context, cmd Command) (Process, error)
}

// Disked is a host with data on disks that faults can hit: those of all its data directories, which are one disk to the host.
type Disked interface {
	Disks() []*disk.Disk
}

// Command is a program to start on a host.
type Command struct {
	// Program is the path of the program; empty for lockcheck's own binary.
	Program string
	Args    []string
	Env     []string // added to a minimal environment
	// InImage says that Program is one of the image of the backend's servers. Only Site.Server sets it.
	InImage bool
	// InClientImage says that what runs is the image of the lock clients, as it is: Args take the place of its command, as far as there
	// are any, and Program is empty. Only some providers have one.
	InClientImage bool
	// Data names the directory of the host that the program keeps its data in; "" if it keeps none.
	Data string
	// Files are put in place before the start, by absolute path, unless there is one already. A path that is not below
	// the data directory is for servers with InImage, and for lock clients of sites that do not share files.
	Files map[string][]byte
	// Log names the file below the host's log directory that takes what the program prints: "etcd" for etcd.log.
	Log string
	// Pipes asks for standard input and output as pipes; the log then takes standard error only.
	Pipes bool
	// OtherUser says that the program refuses to run as user id 0. Where it would, it runs as an id that is not 0 and owns the
	// host's data all the same; an image's entry point does that itself. The error wraps ErrUnavailable where that cannot be.
	OtherUser bool
	// StopSignal asks the program to end in good order; 0 for SIGTERM.
	StopSignal syscall.Signal
}

// Quit is the signal that asks the program to end in good order.
func (c Command) Quit() syscall.Signal { return cmp.Or(c.StopSignal, syscall.SIGTERM) }

// Process is a program running on a host.
type Process interface {
	PID() int         // in the harness's PID namespace; 0 when it is elsewhere
	Stdin() *os.File  // nil without Command.Pipes
	Stdout() *os.File // nil without Command.Pipes
	Done() <-chan struct{}
	Err() error // why it ended, once Done is closed
	// Kill sends SIGKILL and returns once the process is gone.
	Kill(ctx context.Context) error
}

// Pauser is a process, or a target of faults, that can be stopped as SIGSTOP does.
type Pauser interface {
	// Pause returns once every thread was read back as stopped; the error says which was not.
	Pause(ctx context.Context) error
	// Resume returns once every thread was read back as running again.
	Resume(ctx context.Context) error
}

// Stopper is a process that can be asked to end in good order.
type Stopper interface {
	// Stop sends the program its Command's signal for that, and returns once it is gone: Err then says how it ended. The error says that
	// it is still there when ctx is done.
	Stop(ctx context.Context) error
}

// Targeted is a process that says how a program on its host finds it. Others are found by their PID.
type Targeted interface {
	Target() procs.Target
}

// TargetOf says how a program on a process's host finds the process.
func TargetOf(p Process) procs.Target {
	if t, ok := p.(Targeted); ok {
		return t.Target()
	}
	return procs.Target{PID: p.PID()}
}

// Logged is a process whose log is a file of this machine.
type Logged interface {
	LogPath() string
}

// Backend is a lock service and the way it is locked.
type Backend interface {
	Name() string
	About() string // one line for lockcheck list
	// Software says what its servers are.
	Software() Software
	// Clients are the lock clients that come with it; the first is the default.
	Clients() []LockClient
	// Layout decides the servers and their settings. It refuses a TTL that they cannot honour with the nearest they can.
	Layout(opts Options) (Layout, error)
	// Launch starts the servers on hosts of the site, in an order in which they find each other. It returns once the last
	// of them was started: whether the service is ready is for the cluster to say. On an error, what was started ends with
	// the site.
	Launch(ctx context.Context, site Site, layout Layout) ([]Node, error)
	// Connect prepares the harness's own connections to a service. It asks nothing yet.
	Connect(service Service) (Cluster, error)
}

// NodeRunner is a backend whose servers are lockcheck's own program run again.
type NodeRunner interface {
	// RunNode is one server: it serves until ctx is done. The error says why it could not.
	RunNode(ctx context.Context, args []string) error
}

// Service is where a lock service is, whether lockcheck runs it or others do.
type Service struct {
	Nodes  []Node
	Dial   Dialer
	Layout Layout // what its servers were told, or are expected to be told
}

// Dialer makes a connection as net.Dialer.DialContext does, from wherever the service can be reached.
type Dialer func(ctx context.Context, network, addr string) (net.Conn, error)

// LockClient describes one built-in implementation of the lock for a backend.
type LockClient struct {
	Name  string
	About string
	New   client.Factory
	// Program is instead of New for a client on a library that lockcheck does not depend on.
	Program ClientProgram
	// NoTokens is why its grants carry no ordered token, as it says itself when it is ready; "" if they carry one.
	NoTokens string
}

// ClientProgram is a program of its own for Linux that is a lock client: it is started with the client's name as its argument, and
// speaks the client protocol. Errors wrap ErrUnavailable.
type ClientProgram interface {
	// Obtain finds the program for a processor or builds it, when a run is to be made and before anything is started.
	Obtain(ctx context.Context, arch string, progress io.Writer) (path string, err error)
	// Describe says where it is, or that it can be built.
	Describe(ctx context.Context, arch string) (string, error)
}

// Options are what a user asks of a backend.
type Options struct {
	Nodes    int           // 0: the backend's default number
	TTL      time.Duration // of a lease
	Settings map[string]string
}

// Layout is a backend's servers and what follows from their settings.
type Layout struct {
	Nodes        []string      // their names, in order: "n1"
	Fronts       []string      // of servers before these: clients speak with them, and no quorum counts them
	TTL          time.Duration // asked for
	EffectiveTTL time.Duration // that the servers will grant
	Grace        time.Duration // for how long after its end the servers may still count a lease, by their design
	LockDelay    time.Duration // for how long they then grant its lock to no client
	Election     time.Duration // without a leader after one fault, at most; 0 where none ever leads
	Settings     map[string]string
	LeaseClock   history.Clock // by which leases are counted: only words of causes depend on it
	Diskless     string        // why its servers keep nothing on disk that matters, and what would change that; "" if they do
	Syncless     string        // the same for syncs
}

// Syncless is the Layout's where a setting has the value with which servers sync nothing, and another with which they do.
func Syncless(values map[string]string, setting, never, does string) string {
	if values[setting] != never {
		return ""
	}
	return fmt.Sprintf("with %s=%s the servers do not sync what they write: use --%s=%s=%s", setting, never, FlagSet, setting, does)
}

// Cluster is a running service and the harness's connections to it.
type Cluster interface {
	Nodes() []Node
	Endpoints() []string // for lock clients
	// Versions are read from the running servers.
	Versions(ctx context.Context) (map[string]string, error)
	// Probe makes one plain write to the service, past any lock. While it succeeds, a lock that no client can acquire is a
	// finding and not an outage (rule J8 in checker/RULES.md).
	Probe(ctx context.Context) error
	// Ready returns once the whole service was seen to work, as at its start: a quorum, replicas in sync, one leader
	// that all name. The error says what was missing when ctx was done.
	Ready(ctx context.Context) error
	// Close ends the harness's connections, not the servers.
	Close() error
}

// Standing is a cluster that can say in a few words how it stands, once it is ready: "n3 leads".
type Standing interface {
	Standing(ctx context.Context) (string, error)
}

// ClientOptions is a cluster whose lock clients need more than addresses (client.Init.Options).
type ClientOptions interface {
	ClientOptions() map[string]string
}

// Fronted is a cluster with servers before those that keep its data. They are the last of its Nodes.
type Fronted interface {
	Fronts() []Node
}

// Node is one server, whether lockcheck runs it or others do.
type Node interface {
	Name() string
	// Addr is the address of its host, without a port.
	Addr() string
}

// HostedNodes are those of a cluster's nodes that lockcheck started.
func HostedNodes(of Cluster) (all []Hosted) {
	for _, n := range of.Nodes() {
		if hosted, ok := n.(Hosted); ok {
			all = append(all, hosted)
		}
	}
	return all
}

// Hosted is a node that lockcheck started: its process on a host of the run is there to be stopped and killed.
type Hosted interface {
	Node
	Host() Host
	Process() Process
}

// LeaderReporter is a cluster that knows which node leads.
type LeaderReporter interface {
	// Leader is the name of the leading node, "" while there is none.
	Leader(ctx context.Context) (string, error)
}

// FailoverTrigger is a cluster that changes its leader when asked. It returns once it has a new one; the error says what was
// asked of whom and what came of it.
type FailoverTrigger interface {
	Failover(ctx context.Context) error
}

// Restarter is a node, or a target of faults, whose server can be started again after its end, on the same host; empty means without its data.
// It returns once the process runs, not once it is ready.
type Restarter interface {
	Restart(ctx context.Context, empty bool) error
}

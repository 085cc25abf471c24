// Package local is the provider that needs nothing installed: servers, clients and the resource are processes of this
// machine, each host of the run in a network namespace of its own.
//
//	shell ── lockcheck (outer)        waits, passes signals in and the exit code out
//	           │ clone: new user (unless root), PID, mount and network namespaces; dies with its parent
//	┌──────────▼───────────────────── one run ──────────────────────────────────────┐
//	│ lockcheck (inner, PID 1: the harness)   /proc and a tmpfs of its own          │
//	│   │ 10.77.1.1                                                                 │
//	│ ══╧═══════╤═══════════════╤═══════════════╤═══ bridge lc1                     │
//	│        h2 │            h3 │            h4 │    one veth pair a host           │
//	│ ┌─────────▼───┐ ┌─────────▼───┐ ┌─────────▼───┐                               │
//	│ │eth0         │ │eth0         │ │eth0         │  a network namespace each,    │
//	│ │ 10.77.1.2   │ │ 10.77.1.3   │ │ 10.77.1.4   │  held by one thread of the    │
//	│ │ node etcd   │ │ client      │ │ resource    │  harness that starts all of   │
//	│ └─────────────┘ └─────────────┘ └─────────────┘  the host's processes         │
//	└───────────────────────────────────────────────────────────────────────────────┘
//
// Nothing of a run can outlive it, because nothing has to be cleaned up. The harness is the first process of its PID
// namespace: when it ends, however it ends, the kernel kills every process inside, stopped ones too, and with the last
// process go the network namespaces, the veth pairs, the mounts and the tmpfs that held all data. A SIGKILL of the outer
// process reaches the inner one as its parent-death signal.
//
// A thread a host, because a network namespace is a property of a thread: the thread that made it need never leave it, all that
// it starts is born inside, and the namespace keeps its address and its rules while servers on it come and go. The same thread
// must live as long as its children, whose parent-death signal is tied to the thread that forked them and not to the process.
//
// A program that refuses to run as user id 0 (clusters.Command.OtherUser) gets user, PID and IPC namespaces of its own where the
// harness is user 0: it sees itself as nobody, and whatever it forks is killed with it, in sessions of its own and without a
// parent, too. It is process 1 of that namespace, so its process id means nothing to others: ask the server, not pg_ctl and its kin.
//
// Where the kernel refuses namespaces the run uses loopback: each host has an address of its own out of a /24 of
// 127.0.0.0/8 that the run claims, so runs do not meet; children die by their parent-death signal, and a janitor (a
// small process in a session of its own, waiting for its standard input to end) kills what is left of the run and
// removes its files. Such a site says that it is not isolated, why, and what would help. LOCKCHECK_NAMESPACES=off asks
// for this by hand.
package local

package history

import "slices"

// Guard says where a client looks at its lock before it writes (rule R9 in checker/RULES.md).
type Guard string

// The guards.
const (
	GuardNone        Guard = "none"
	GuardBeforeWork  Guard = "before-work"
	GuardBeforeWrite Guard = "before-write"
	GuardAsk         Guard = "ask"
	GuardAskStale    Guard = "ask-stale"
)

// GuardWords is one guard and how it is spoken of, everywhere: in the help, in stories, in the report.
type GuardWords struct {
	Name Guard
	// Looks is whether a client reads its own flag before the work, Again whether it does just before the write, and Asks what it asks the
	// service just before the write.
	Looks, Again bool
	Asks         Question
	// About is what a client does: "looks once, works, writes".
	About string
	// Note is what all clients of a run do: "clients look at their lock once, then work, then write".
	Note string
	// Looked is what a write that was sent proves of its client's care; "" if nothing.
	Looked string
}

// Question is what a client asks the service about its own lock.
type Question string

// The questions.
const (
	AskNothing Question = ""
	// AskLatest asks for the newest answer that the service gives: linearizable with etcd, Kubernetes, Consul and a majority of Redlock's servers;
	// of Redis' primary and of ZooKeeper after a sync, which one that is deposed and does not know it may give as well.
	AskLatest  Question = "latest"
	AskAnyCopy Question = "any" // the cheaper look that many programs take: any server's copy will do
)

// Guards is the table of guards.
var Guards = []GuardWords{
	{
		Name: GuardNone, About: "never looks at its lock before it writes",
		Note: "clients never look at their lock again",
	},
	{
		Name: GuardBeforeWork, Looks: true, About: "looks once, works, writes: what most code does",
		Note:   "clients look at their lock once, then work, then write",
		Looked: "its client had looked at its lock before the work, and believed that it held it",
	},
	{
		Name: GuardBeforeWrite, Looks: true, Again: true, About: "looks again just before it sends the write",
		Note:   "clients look at their lock again just before they write",
		Looked: "its client had looked at its lock again just before it sent this, and believed that it held it",
	},
	{
		Name: GuardAsk, Looks: true, Asks: AskLatest, About: "looks, works, and just before it sends the write asks the service for its newest answer",
		Note:   "clients ask the service whether they still hold their lock just before they write, for as new an answer as it gives",
		Looked: "the service had just answered its client, with as new an answer as it gives, that it held the lock",
	},
	{
		Name: GuardAskStale, Looks: true, Asks: AskAnyCopy,
		About:  "the same by the cheaper look that many programs use: etcd's serializable read, ZooKeeper's without sync, a replica of Redis, the watch cache of an API server",
		Note:   "clients ask any server whether they still hold their lock just before they write: its copy may be old",
		Looked: "a server, whose copy may be old, had just answered its client that it held the lock",
	},
}

// GuardNamed finds a guard. One that is not in the table, such as one of another version of lockcheck, has a name and no
// words.
func GuardNamed(name Guard) (words GuardWords, known bool) {
	if i := slices.IndexFunc(Guards, func(g GuardWords) bool { return g.Name == name }); i >= 0 {
		return Guards[i], true
	}
	return GuardWords{Name: name}, false
}

// GuardNames lists the guards.
func GuardNames() []string {
	names := make([]string, len(Guards))
	for i, g := range Guards {
		names[i] = string(g.Name)
	}
	return names
}

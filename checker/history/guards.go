package history

import "slices"

// Guard says where a client looks at its lock before it writes (rule R9 in checker/RULES.md).
type Guard string

// The guards.
const (
	GuardNone        Guard = "none"
	GuardBeforeWork  Guard = "before-work"
	GuardBeforeWrite Guard = "before-write"
)

// GuardWords is one guard and how it is spoken of, everywhere: in the help, in stories, in the report.
type GuardWords struct {
	Name Guard
	// About is what a client does: "looks once, works, writes".
	About string
	// Note is what all clients of a run do: "clients look at their lock once, then work, then write".
	Note string
	// Looked is what a write that was sent proves of its client's care; "" if nothing.
	Looked string
}

// Guards is the table of guards.
var Guards = []GuardWords{
	{
		Name: GuardNone, About: "never looks at its lock before it writes",
		Note: "clients never look at their lock again",
	},
	{
		Name: GuardBeforeWork, About: "looks once, works, writes: what most code does",
		Note:   "clients look at their lock once, then work, then write",
		Looked: "its client had looked at its lock before the work, and believed that it held it",
	},
	{
		Name: GuardBeforeWrite, About: "looks again just before it sends the write",
		Note:   "clients look at their lock again just before they write",
		Looked: "its client had looked at its lock again just before it sent this, and believed that it held it",
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

package local

// AbilitiesCommand is the hidden command of lockcheck that calls TellAbilities.
const AbilitiesCommand = "abilities"

// JanitorCommand is the hidden command of lockcheck that calls Janitor with the arguments that follow.
const JanitorCommand = "janitor"

// Ability is something that faults need of this machine, and whether it was seen to work.
type Ability struct {
	Name    string `json:"name"`
	Missing string `json:"missing,omitempty"` // why it does not work; "" if it does
	Found   string `json:"found,omitempty"`   // what was seen of it, or by what it works
}

// Trial is an ability that others know how to try, in the namespaces of a run.
type Trial struct {
	Name string
	Try  func() (found string, err error)
}

// Known is what there is to know of an ability before it is tried.
type Known struct {
	Name  string
	Works string // what is seen where it is there
	// Here says that containers do without it: an engine has its own.
	Here bool
	// Costs is what is lost without it beside faults, whose table names the abilities that they need; "" for nothing.
	Costs string
}

// AbilityNamespaces is that of having hosts with networks of their own.
const AbilityNamespaces = "namespaces"

// KnownAbilities are in the order of Abilities.
var KnownAbilities = []Known{
	{
		Name: AbilityNamespaces, Works: "made: every host gets a network of its own, and what a run leaves dies with it", Here: true,
		Costs: "no partitions, and servers listen on the loopback network instead of one of their own",
	},
	{Name: "nftables", Works: "a table was made, read back and removed", Here: true},
	{Name: "tbf", Works: "a limit was made and removed"},
	{Name: "ptrace", Works: "a process was stopped and let go", Here: true},
	{Name: "vdso", Works: "mapped by the kernel, for a processor whose clocks can be changed"},
	{Name: "fuse", Works: "a file system of lockcheck's own can be mounted under a server's data"},
	{Name: "schedstat", Works: "the kernel counts the processor time of each thread"},
}

package local

// AbilitiesCommand is the hidden command of lockcheck that calls TellAbilities.
const AbilitiesCommand = "abilities"

// JanitorCommand is the hidden command of lockcheck that calls Janitor with the arguments that follow.
const JanitorCommand = "janitor"

// Ability is something that faults need of this machine, and whether it was seen to work.
type Ability struct {
	Name    string `json:"name"`
	Missing string `json:"missing,omitempty"` // why it does not work; "" if it does
	Found   string `json:"found,omitempty"`   // by what it works, where that differs
}

// Trial is an ability that others know how to try, in the namespaces of a run.
type Trial struct {
	Name string
	Try  func() (found string, err error)
}

// The abilities, in the order of Abilities.
const (
	AbilityNamespaces = "namespaces"
	AbilityNftables   = "nftables"
	AbilityTBF        = "tbf"
	AbilityPtrace     = "ptrace"
	AbilityVDSO       = "vdso"
	AbilityFUSE       = "fuse"
	AbilitySchedstat  = "schedstat"
)

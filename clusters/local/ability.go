package local

// AbilitiesCommand is the hidden command of lockcheck that calls TellAbilities.
const AbilitiesCommand = "abilities"

// JanitorCommand is the hidden command of lockcheck that calls Janitor with the arguments that follow.
const JanitorCommand = "janitor"

// Ability is something that faults need of this machine, and whether it was seen to work.
type Ability struct {
	Name    string `json:"name"`
	Missing string `json:"missing,omitempty"` // why it does not work; "" if it does
}

// The abilities, in the order of Abilities.
const (
	AbilityNamespaces = "namespaces"
	AbilityNftables   = "nftables"
	AbilityPtrace     = "ptrace"
	AbilityVDSO       = "vdso"
)

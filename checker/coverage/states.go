package coverage

import (
	"fmt"
	"slices"
	"strings"
)

// State is what one lock looked like between two events, without names and times. Two runs that came into the same states did the same to
// the lock, as far as a search is concerned.
type State struct {
	Believers, Waiters few
	Grant              grant
	Believer           standing // of those who believe
	Unknown            operation
	Leader             leader
	Phase              phase
	Fault              fault
}

type (
	few       uint8 // 0, 1, or 2 for more
	grant     uint8
	standing  uint8
	operation uint8
	leader    uint8
	phase     uint8
	fault     uint8
)

// What the service has granted, as far as leases say.
const (
	grantNone      grant = iota
	grantProtected       // rule R5
	grantLapsed
	grantUnknown // no lease was reported
)

// Whether who believes is whom the service granted the lock last.
const (
	standingNone standing = iota
	standingHolder
	standingFormer // somebody else's grant is newer
	standingUnknown
)

// An operation whose outcome is not known, less than a lease ago.
const (
	operationNone operation = iota
	operationAcquire
	operationRenewal
	operationRelease
)

const (
	leaderSame leader = iota
	leaderNone
	leaderChanged // since the grant
)

const (
	phaseNone phase = iota
	phaseReading
	phaseWriting // it works, or its write is on its way
	phaseReleasing
)

// The fault that is in effect. Of several the last of these counts.
const (
	faultNone   fault = iota
	faultHealed       // one was taken back less than a lease ago
	faultWaiter
	faultServers // a minority
	faultLeader
	faultMajority
	faultHolder
	faults
)

var names = struct {
	grant     [4]string
	standing  [4]string
	operation [4]string
	leader    [3]string
	phase     [4]string
	fault     [faults]string
}{
	grant:     [4]string{"no grant", "protected", "lapsed", "grant"},
	standing:  [4]string{"", "holder", "former", "maybe holder"},
	operation: [4]string{"", "acquire?", "renewal?", "release?"},
	leader:    [3]string{"", "no leader", "new leader"},
	phase:     [4]string{"", "reading", "writing", "releasing"},
	fault:     [faults]string{"", "healed", "fault of waiter", "fault of servers", "fault of leader", "fault of majority", "fault of holder"},
}

// String is the state in a few words.
func (s State) String() string {
	parts := []string{fmt.Sprintf("%d believe", s.Believers), names.standing[s.Believer], fmt.Sprintf("%d wait", s.Waiters), names.grant[s.Grant],
		names.operation[s.Unknown], names.leader[s.Leader], names.phase[s.Phase], names.fault[s.Fault]}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

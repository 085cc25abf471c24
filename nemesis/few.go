package nemesis

import (
	"fmt"

	"lockcheck/checker/history"
)

// few is the spec for a service with so few servers that some targets, or the other side of some, are none: a fault of them could never
// happen. What was asked for by name is refused, and default mixes do without it.
func (s Spec) few(conditions Conditions) (Spec, error) {
	left := make(Spec, 0, len(s))
	for _, mix := range s {
		var some []Fault
		for _, f := range mix {
			err := f.tooFew(conditions)
			if err != nil && !f.fromDefault {
				return nil, err
			}
			if err == nil {
				some = append(some, f)
			}
		}
		left = append(left, some)
	}
	return left, nil
}

// tooFew is why a fault can never happen with so many servers.
func (f Fault) tooFew(conditions Conditions) error {
	with := history.Counted(int64(conditions.Servers), "server", "servers")
	for _, role := range []Role{f.Target, f.Peer} {
		if many := roles[role.Name].Many; many != nil && many(conditions.Servers) == 0 || role.Name == roleFollower && conditions.Servers == 1 {
			return fmt.Errorf("%q: with %s there is no %s: aim at one, leader or all, as far as %s takes them, or take more --nodes", f.String(), with, role.Name, f.Kind)
		}
	}
	others := conditions.Servers + conditions.Fronts - f.Target.meaning().Size(conditions.Servers)
	if kindNamed(f.Kind).Takes.Peer && !roles[f.Target.Name].Clients && (f.Peer.Name == "" || f.Peer.Name == roleServers) && others <= 0 {
		return fmt.Errorf("%q: with %s there is none on the other side: name another one (-clients, -resource), or take more --nodes", f.String(), with)
	}
	return nil
}

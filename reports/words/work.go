package words

import (
	"strings"

	"lockcheck/checker/history"
)

// Work says how long holders work, and what clients do beside.
func Work(p history.Plan) string {
	return strings.TrimSuffix(p.Works().String()+": "+Beside(p), ": ")
}

// Beside says what clients do beside holds of the usual length; "" for nothing.
func Beside(p history.Plan) string {
	var phrases []string
	w := p.Works()
	if w.Long {
		phrases = append(phrases, "some holds last 1.2 to 2.5 leases, of clients that renew them")
	}
	if w.Tries {
		phrases = append(phrases, "some acquires do not wait")
	}
	if w.GivenUp {
		phrases = append(phrases, "some acquires are given up while they wait")
	}
	return strings.Join(phrases, "; ")
}

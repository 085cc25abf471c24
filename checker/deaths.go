package checker

import (
	"fmt"
	"strings"
)

// maxDeaths is how often the client at one place may end by itself before the run shows nothing about its lock: a program
// that keeps crashing is not what its author runs in production.
const maxDeaths = 2

// deaths are the clients that ended by themselves, in the order of their names.
func (m *Model) deaths() (names []string) {
	for _, name := range sortedKeys(m.Clients) {
		if m.Clients[name].Died {
			names = append(names, name)
		}
	}
	return names
}

// keepsDying says which clients ended by themselves over and over; "" if none did. A successor ("c2-2") takes the place of
// its predecessor ("c2").
func (m *Model) keepsDying() string {
	byPlace := map[string]int{}
	for _, name := range m.deaths() {
		place, _, _ := strings.Cut(name, "-")
		byPlace[place]++
	}
	var words []string
	for _, place := range sortedKeys(byPlace) {
		if n := byPlace[place]; n > maxDeaths {
			words = append(words, fmt.Sprintf("%s %d times", place, n))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return "the lock client kept ending by itself (" + strings.Join(words, ", ") + ")"
}

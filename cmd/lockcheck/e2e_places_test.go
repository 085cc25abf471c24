//go:build e2e

package main_test

// Runs wait most of their time, so more of them go on at once than there are processors. Tests are all let go at once
// (-parallel 64); what they share is taken for each run alone, that of the engine first: a run that waits for the engine keeps
// no other from running.
var (
	places = make(chan struct{}, 5)
	// The engine makes and removes a dozen containers for each run. Two runs at once are enough for it: with more it was seen
	// to answer nothing for a minute, on two cores.
	inDocker = make(chan struct{}, 2)
)

// oneOfAFewInDocker waits until few enough runs are in Docker; the run is over when what it returns is called.
func oneOfAFewInDocker() (over func()) { return oneOf(inDocker) }

// aPlace waits until few enough runs go on. Whoever has one starts nothing that waits for another.
func aPlace() (over func()) { return oneOf(places) }

func oneOf(places chan struct{}) (over func()) {
	places <- struct{}{}
	return func() { <-places }
}

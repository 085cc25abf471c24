package nemesis

import "lockcheck/checker/history"

// none disturbs nothing: what goes wrong under it goes wrong by itself.
var none = Kind{
	Name:      history.NoNemesis,
	FaultKind: history.FaultKind{About: "no faults: clients only contend for the lock"},
}

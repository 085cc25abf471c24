package nemesis

// none disturbs nothing: what goes wrong under it goes wrong by itself.
var none = Kind{
	Name:  "none",
	About: "no faults: clients only contend for the lock",
}

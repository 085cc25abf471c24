package clusters

// Described is a backend that lockcheck lists.
type Described interface {
	Backend
	Descriptor() Descriptor
}

// Descriptor is what pages and tests have to know of a backend that its code does not say: each has its rows from here
// (go generate ./cmd/lockcheck). Cells of a page are written as there.
type Descriptor struct {
	Product string // as its makers write it
	Servers string // that run where no number is asked for: "3 members"
	Install string // what brings them to a Debian machine
	TTLs    string // that it grants
	Expires string // when a lease does
	Guards  string // that its lock clients support, of those that need support

	// Processor is what a run takes of one processor, in percent: the mean as LOCKCHECK_COSTS shows it.
	Processor int64

	// The rest is of its default lock client. A lock without a lease does not end while its holder is paused.
	Leased bool
	// UnderPauses is how long a load under pauses lasts; "" for what is enough for most.
	UnderPauses string
	// FreesOthers are the properties that it violates when its holder was paused, by its own fault.
	FreesOthers []string
}

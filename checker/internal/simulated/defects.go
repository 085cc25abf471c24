package simulated

// Defect is one thing that is wrong with the service, the resource or the clients of a world. Most strike now and then.
type Defect string

// What may be wrong with the service.
const (
	DoubleGrant         Defect = "double grant"                     // a second waiter is granted although the first holds
	EarlyExpiry         Defect = "early expiry"                     // a lease is dropped long before its end
	ExtensionNotApplied Defect = "extension acknowledged, not done" // so the lease ends as if never extended
	LeaseRevived        Defect = "dead lease revived"               // a late extension of an ended lease is acknowledged
	ReleaseByAnyone     Defect = "release by anyone"                // the release does not look whose lock it frees
	ReleaseNotDone      Defect = "release acknowledged, not done"   // the lock stays taken until the lease runs out
	ReleaseDenied       Defect = "release done, denied"             // the answer says the lock was not the client's
	ReleaseInvented     Defect = "release not done, confirmed"      // of a grant that was long gone
	NeverFree           Defect = "never free again"                 // what a dead client held stays taken
	ZombieWaiter        Defect = "zombie waiter"                    // a waiter whose lease ended is never told
	NeverWoken          Defect = "never woken"                      // a waiter whose turn has come is not told, now and then
	WokenByReleases     Defect = "woken by releases only"           // and not told when the lease before it runs out, or its client has died
	RecordLeft          Defect = "record left"                      // a release makes another record, which never runs out
	GrantToTheDead      Defect = "grant to a dead lease"            // a waiter whose lease ended stays in the queue
	BusyWhenFree        Defect = "busy when free"                   // a try is refused although the lock is free
	TokenRepeated       Defect = "token repeated"
	TokenBack           Defect = "token going back"
	TokenOfLease        Defect = "token from the lease's id" // unique, but in no order
	QueueJumped         Defect = "queue jumped"              // the last in the queue comes next, tokens are given when queueing
)

// What may be wrong with the resource.
const (
	FenceIgnored   Defect = "stale write accepted"       // the resource does not compare tokens
	FenceOfWrites  Defect = "reads do not raise"         // only writes raise the mark, so an older writer slips in
	FenceAsText    Defect = "tokens compared as text"    // "9" is greater than "10"
	FreshRejected  Defect = "fresh write rejected"       // although its token is the highest, or it is built on the value
	BaseIgnored    Defect = "base not compared"          // compare-and-set without the comparison
	KeyIgnored     Defect = "idempotency key ignored"    // a second record of a slot is applied
	KeysForgotten  Defect = "idempotency keys in memory" // and forgotten at a restart, while the values stay
	CheckThenKey   Defect = "check the key, then write"  // the key is looked for in one step, and others are handled before the next
	OneKeySpace    Defect = "one key space for all registers"
	KeyUsedUp      Defect = "key used up by a rejected request"
	AnsweredAsOwn  Defect = "duplicate answered as applied" // with its own value, as if it counted
	UpdateDropped  Defect = "update lost"                   // acknowledged and logged, never stored
	OldRead        Defect = "read returns old value"        // as from a replica that lags
	WriteForgotten Defect = "in-flight write missing"       // acknowledged, not in the log
	AppliedTwice   Defect = "duplicate applied twice"       // a repeated packet is done again
	RejectedStored Defect = "rejected write stored"         // the client is told no, and it is done all the same
	AppliedDenied  Defect = "applied write called off"      // the client is told it was rejected
	CheckThenWrite Defect = "check, then write"             // the mark is compared in one step, and others are handled before the next
	OnlyWrites     Defect = "only writes checked"           // a read is served whatever its token, and raises nothing
	EqualRejected  Defect = "equal token rejected"          // "<=" where "<" is meant
	MarkForgotten  Defect = "mark in memory"                // and forgotten at a restart, while the values stay
	OneMark        Defect = "one mark for all keys"
)

// What may be wrong with the clients.
const (
	LossIgnored       Defect = "loss ignored"            // the library learns of it and does not report it
	GuardIgnored      Defect = "guard ignored"           // writes although it was told
	GrantUnasked      Defect = "grant without asking"    // the library says yes of its own
	ExpiryNotNoticed  Defect = "expiry not noticed"      // no deadline of its own: believes until the server says no
	UnlockByName      Defect = "unlock by name"          // the client's release names the lock, not its own record
	WriteAfterRelease Defect = "write after the release" // the write is buffered and sent after the release was answered
	LostWakeUp        Defect = "lost wake-up"            // who waited when the connection broke does not ask again, and is never told
)

// flawed reports whether a defect strikes now, at most with probability p. Worlds without it draw nothing.
func (w *world) flawed(d Defect, p float64) bool { return w.Defect == d && w.chance(p) }

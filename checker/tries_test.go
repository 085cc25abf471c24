package checker

import (
	"strings"
	"testing"
)

// A request for the lock that was given up may have been granted before its removal was acknowledged (R8), so a try that
// was refused meanwhile accuses nobody. Found by simulation.
func TestAnAcquireGivenUpExplainsARefusedTry(t *testing.T) {
	atomic := untokened()
	atomic.TryAtomic = true
	for name, test := range map[string]struct{ text, want string }{
		"while it was pending": {`
			1.0 a acquire h1
			1.2 b acquire h2 try=true
			1.3 b acquire:fail h2 code=busy
			1.4 a acquire:fail h1 code=cancelled`, ""},
		"not after it was over": {`
			1.0 a acquire h1
			1.1 a acquire:fail h1 code=cancelled
			1.2 b acquire h2 try=true
			1.3 b acquire:fail h2 code=busy`, "lock-linearizability:1"},
		"not if it was refused before it could have had an effect": {`
			1.0 a acquire h1
			1.2 b acquire h2 try=true
			1.3 b acquire:fail h2 code=busy
			1.4 a acquire:fail h1 code=refused`, "lock-linearizability:1"},
		"not by another refused try": {`
			1.0 a acquire h1 try=true
			1.2 b acquire h2 try=true
			1.3 b acquire:fail h2 code=busy
			1.4 a acquire:fail h1 code=busy`, "lock-linearizability:1"},
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, atomic, test.text, test.want) })
	}
}

// An acquire that came to nothing removes what it left behind, which may be the moment at which another's grant went
// (J5). Found by simulation: a client that woke too late deleted the lock of the next by its name.
func TestTidyingUpAfterAnAcquireIsACleanUp(t *testing.T) {
	const lost = `
		0.50 c acquire h0
		1.00 a acquire h1
		1.01 a lease:ok h1 ttl=2 seen=1.00
		1.02 a acquire:ok h1 seen=1.00
		%s
		1.60 a lease:fail h1
		1.61 a lost h1 held=1.5`
	for name, test := range map[string]struct{ end, want string }{
		"of unknown outcome":                {"1.20 c acquire:info h0", "release-by-owner:1"},
		"of unknown outcome, by the dead":   {"1.01 c acquire:info h0\n1.01 c exit", "early-expiry:1"},
		"given up":                          {"1.20 c acquire:fail h0 code=cancelled", "release-by-owner:1"},
		"given up before":                   {"0.90 c acquire:fail h0 code=cancelled", "early-expiry:1"},
		"refused, which leaves nothing":     {"1.20 c acquire:fail h0 code=refused", "early-expiry:1"},
		"still waiting, with nothing to do": {"", "early-expiry:1"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := sortedByTime(strings.Split(strings.Replace(lost, "%s", test.end, 1), "\n"))
			verdicts(t, untokened(), strings.Join(lines, "\n"), test.want)
		})
	}
}

// A grant that is read late was made before, and may have been removed before it was read. Found by simulation.
func TestAReleaseBeforeALateGrantWasRead(t *testing.T) {
	for name, test := range map[string]struct{ owned, want string }{
		"that found nothing of its own":      {"false", "release-by-owner:1"},
		"that made room, by its own account": {"true", "early-expiry:1"},
	} {
		t.Run(name, func(t *testing.T) {
			verdicts(t, untokened(), strings.Replace(`
				0.50 c acquire h0
				0.60 c acquire:ok h0
				1.00 a acquire h1
				1.10 c release h0
				1.20 c release:ok h0 owned=%s
				1.50 a lease:ok h1 ttl=2 seen=1.00
				1.50 a acquire:ok h1 seen=1.00
				1.60 a release h1
				1.70 a release:fail h1 code=not-owned`, "%s", test.owned, 1), test.want)
		})
	}
}

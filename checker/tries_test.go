package checker

import (
	"strings"
	"testing"
)

// A request for the lock that was given up may have been granted before its removal was acknowledged (R8), so a try that was
// refused until then is no evidence against the service. Found by simulation.
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
		"given back, because its token could not be read": {`
			1.0 a acquire h1
			1.2 b acquire h2 try=true
			1.3 b acquire:fail h2 code=busy
			1.4 a acquire:fail h1 code=refused gave_back=true`, ""},
		"not by another refused try": {`
			1.0 a acquire h1 try=true
			1.2 b acquire h2 try=true
			1.3 b acquire:fail h2 code=busy
			1.4 a acquire:fail h1 code=busy`, "lock-linearizability:1"},
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, atomic, test.text, test.want) })
	}
}

// What is pending at the time of a loss proves nothing: a client that gives an acquire up may compare before it deletes,
// and most do. Simpler rules took each of these for the culprit.
func TestWhatWasPendingFreedNothing(t *testing.T) {
	const lost = `
		0.50 c acquire h0
		1.00 a acquire h1
		1.01 a lease:ok h1 ttl=2 seen=1.00
		1.02 a acquire:ok h1 seen=1.00
		%s
		1.60 a lease:fail h1
		1.61 a lost h1 held=1.5`
	for name, end := range map[string]string{
		"an acquire of unknown outcome":           "1.20 c acquire:info h0",
		"one of unknown outcome, by the dead":     "1.01 c acquire:info h0\n1.01 c exit",
		"an acquire given up":                     "1.20 c acquire:fail h0 code=cancelled",
		"an acquire given up before":              "0.90 c acquire:fail h0 code=cancelled",
		"an acquire refused, which left nothing":  "1.20 c acquire:fail h0 code=refused",
		"an acquire that still waits":             "",
		"the closing of another client's session": "1.20 c close",
	} {
		t.Run(name, func(t *testing.T) {
			lines := sortedByTime(strings.Split(strings.Replace(lost, "%s", end, 1), "\n"))
			verdicts(t, untokened(), strings.Join(lines, "\n"), "early-expiry:1")
		})
	}
}

// A grant that is read late was made before, and a release that was answered before it was read proves nothing of it.
func TestAReleaseBeforeALateGrantWasRead(t *testing.T) {
	for name, owned := range map[string]string{
		"that found nothing of its own":      "false",
		"that made room, by its own account": "true",
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
				1.70 a release:fail h1 code=not-owned`, "%s", owned, 1), "early-expiry:1")
		})
	}
}

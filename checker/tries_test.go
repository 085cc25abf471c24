package checker

import "testing"

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

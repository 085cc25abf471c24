package checker

import (
	"testing"

	"lockcheck/checker/model"
)

func TestResourceLinearizability(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"two updates built on one value, and the resource took both": {`
			1.0 a acquire h1
			1.0 b acquire h2
			1.1 a acquire:ok h1 token=1
			1.2 b acquire:ok h2 token=2
			1.3 a read h1
			1.31 @ read h1
			1.32 a read:ok h1
			1.4 b read h2
			1.41 @ read h2
			1.42 b read:ok h2
			1.5 a write h1 value=v1
			1.6 b write h2 value=v2
			1.7 @ write h2
			1.8 a write:info h1
			1.8 b write:info h2
			1.9 @ write h1`, "stale-write:1 resource-linearizability:1"},
		"an unknown write that never arrived": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.3 a read h1
			1.31 @ read h1
			1.32 a read:ok h1
			1.5 a write h1 value=v1
			1.8 a write:info h1
			2.0 b acquire h2
			2.2 b acquire:ok h2 token=2
			2.4 b read h2
			2.41 @ read h2
			2.42 b read:ok h2
			2.5 b write h2 value=v2
			2.6 @ write h2
			2.7 b write:ok h2`, ""},
		"who only read may be ordered anywhere in between": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.2 a read h1
			1.3 @ read h1
			1.4 a read:ok h1
			1.5 a write h1 value=v1
			1.6 @ write h1 rejected
			1.7 a write:fail h1 code=rejected
			2.0 b acquire h2
			2.2 b acquire:ok h2 token=2
			2.4 b read h2
			2.41 @ read h2
			2.42 b read:ok h2`, ""},
		"a write that was given up lands after the next": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			1.2 a write h1 value=v1
			1.3 a write:info h1
			1.4 a.2 write h1 value=v2
			1.5 @ write h1
			1.6 a.2 write:ok h1
			1.7 @ write h1 nth=1
			1.8 a.2 release h1
			1.9 a.2 release:ok h1 owned=true
			2.0 b acquire h2
			2.2 b acquire:ok h2 token=2
			2.4 b read h2
			2.41 @ read h2
			2.42 b read:ok h2`, "lost-update:1"},
		"a hold that finds another's value after its own": {`
			1.0 a acquire h1
			1.0 b acquire h2
			1.1 a acquire:ok h1 token=2
			1.1 b acquire:ok h2 token=1
			1.2 a write h1 value=v1
			1.3 @ write h1
			1.4 a write:ok h1
			1.5 b write h2 value=v2 base=v1
			1.6 @ write h2
			1.7 b write:ok h2
			1.8 a read h1
			1.9 @ read h1
			2.0 a read:ok h1`, "stale-write:1 resource-linearizability:1"},
	} {
		t.Run(name, func(t *testing.T) {
			result := verdicts(t, plainPlan(), test.text, test.want)
			if p := propertyOf(result, model.ResourceLinearizability); p.ConfirmedBy != "porcupine" {
				t.Errorf("confirmed by %q: %s", p.ConfirmedBy, p.Reason)
			}
		})
	}
}

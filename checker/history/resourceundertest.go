package history

import (
	"slices"
	"strings"
)

// ResourceTarget is the name of the protected resource as a target of faults.
const ResourceTarget = "resource"

// UnderTest is what a plan knows of a resource that is not lockcheck's own. Its log proves nothing by itself: it is held against
// the answers that clients were given (rule R9 in checker/RULES.md).
type UnderTest struct {
	// Compares is what it says that it compares, a word of ComparisonNames; "" until it was asked.
	Compares string `json:"compares,omitempty"`
	// IdempotencyKeys says that it says that it takes them.
	IdempotencyKeys bool `json:"idempotency_keys,omitempty"`
	// Software is what it calls itself.
	Software string `json:"software,omitempty"`
	// LogRead says that its whole log was read, after the load: only then resource.jsonl has it.
	LogRead bool `json:"log_read,omitempty"`
}

// ComparisonNames are what a resource under test can say that it compares, in the order of the comparisons.
var ComparisonNames = []string{CompareNothing: "nothing", CompareTokens: "tokens", CompareBases: "bases"}

// ComparisonNamed finds a comparison.
func ComparisonNamed(name string) (comparison Comparison, known bool) {
	at := slices.Index(ComparisonNames, name)
	return Comparison(max(at, 0)), at >= 0
}

// IsOwnResource reports whether a resource is a program or a URL of the user's: no name of lockcheck's own has a slash or a space.
func IsOwnResource(name string) bool { return strings.ContainsAny(strings.TrimSpace(name), "/ ") }

// IsOwnClient reports whether a lock client is a program of the user's: no name of lockcheck's own has a slash or a space.
func IsOwnClient(name string) bool { return strings.ContainsAny(strings.TrimSpace(name), "/ ") }

// OwnClient reports whether the lock client of the run was a program or an image of the user's.
func (p *Plan) OwnClient() bool {
	return IsOwnClient(p.LockClient) || slices.ContainsFunc(p.Images, func(i Image) bool { return i.Use == ImageOfLockClients })
}

// OwnResourceNames lists the resources that lockcheck wrote: those that are under no test.
func OwnResourceNames() (names []string) {
	for _, r := range Resources {
		if !r.UnderTest {
			names = append(names, string(r.Name))
		}
	}
	return names
}

// IsResourceURL reports whether a resource is a service that others run.
func IsResourceURL(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// kindUnderTest is spoken of as lockcheck's own that compares the same.
func (p *Plan) kindUnderTest() ResourceKind {
	kind := ResourceKind{Name: p.Resource, About: "under test; what it compares it says when it is started"}
	compares, asked := ComparisonNamed(p.UnderTest.Compares)
	if !asked {
		return kind
	}
	at := slices.IndexFunc(Resources, func(r ResourceKind) bool { return r.Compares == compares })
	kind = Resources[at]
	kind.Name, kind.About = p.Resource, "under test; by its own word it "+kind.About
	return kind
}

// validateUnderTest refuses what a resource under test cannot have said.
func (p *Plan) validateUnderTest() error {
	compares, known := ComparisonNamed(p.UnderTest.Compares)
	switch {
	case p.Resource == "":
		return mistakef("the plan has a resource under test that has no name")
	case p.UnderTest.Compares != "" && !known:
		return mistakef("the plan's resource under test compares %q; known are %s", p.UnderTest.Compares, list(ComparisonNames))
	case p.Fenced && compares != CompareTokens:
		return mistakef("the plan says that the resource compares tokens (fenced), and that it compares %q", p.UnderTest.Compares)
	}
	return nil
}

package harness

import (
	"strings"
	"testing"
)

// What stands in a URL stands in the plan and the report: one with a secret is refused, and not repeated.
func TestAResourcesURLHoldsNoSecret(t *testing.T) {
	for _, name := range []string{"http://me:s3cret@10.0.0.9:8080", "http://10.0.0.9:8080/?tok=s3cret", "http://10.0.0.9:8080/#s3cret", "http://me:s3cret@10.0.0.9:80 80"} {
		if err := plainURL(name); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := plainURL("http://storage.example:8080/base"); err != nil {
		t.Error(err)
	}
}

package harness

import (
	"errors"
	"strings"
	"testing"

	"lockcheck/clusters"
)

// A name of the user's stands in lines of terminals and reports: one that would end its line, or that a terminal obeys, is refused and
// shown harmless.
func TestANameIsOneLine(t *testing.T) {
	for name, set := range map[string]func(*Options, string){
		"--resource": func(o *Options, value string) { o.Resource = value },
		"--client":   func(o *Options, value string) { o.Client = value },
	} {
		for _, value := range []string{"./mine\n✓ PASS: all is well", "./mine\r", "./mine \x1b[2J", "./mine\u202e"} {
			o := Default()
			o.Backend = "etcd"
			set(&o, value)
			err := o.Check()
			if !errors.Is(err, clusters.ErrUsage) || !strings.HasPrefix(err.Error(), name+`="./mine`) || strings.ContainsAny(err.Error(), "\n\r\x1b\u202e") {
				t.Errorf("%s=%q: %v", name, value, err)
			}
		}
		o := Default()
		o.Backend = "etcd"
		if set(&o, "./mine --größe=3"); o.Check() != nil {
			t.Errorf("%s: %v", name, o.Check())
		}
	}
}

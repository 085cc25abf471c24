package harness

import (
	"testing"

	"lockcheck/clusters"
)

// An option that means something at one provider only decides where a run is made, if nothing else does.
func TestOptionsOfOneProviderChooseIt(t *testing.T) {
	cases := map[string]struct {
		asked Options
		want  string
	}{
		"nothing":          {Options{}, Auto},
		"an image":         {Options{Where: Where{Image: "redis:7"}}, "docker"},
		"a program":        {Options{Where: Where{ServerPaths: clusters.ServerPaths{Bin: "/bin/true"}}}, Local},
		"one's own client": {Options{Client: "./mine"}, Local},
		"a built-in one":   {Options{Client: "setnx"}, Auto},
	}
	for name, c := range cases {
		c.asked.Where.Provider = Auto
		if err := c.asked.place(); err != nil || c.asked.Where.Provider != c.want {
			t.Errorf("%s: provider %s (%v), want %s", name, c.asked.Where.Provider, err, c.want)
		}
	}
}

//go:build linux && e2e

package docker

import (
	"fmt"
	"testing"
	"time"

	"lockcheck/clusters"
)

// BenchmarkRun makes and removes what a run of three servers, five clients and a resource needs.
func BenchmarkRun(b *testing.B) {
	if _, err := connect(b.Context()); err != nil {
		b.Skip(err)
	}
	phases := map[string]time.Duration{}
	for i := range b.N {
		begun := time.Now()
		phase := func(name string) {
			phases[name] += time.Since(begun)
			begun = time.Now()
		}
		s, err := (&Provider{}).Open(b.Context(), clusters.SiteSpec{Run: fmt.Sprintf("bench-%d", i), LogDir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		phase("open")
		var hosts []clusters.Host
		for n := range 9 {
			h, err := s.Host(b.Context(), fmt.Sprintf("h%d", n))
			if err != nil {
				b.Fatal(err)
			}
			hosts = append(hosts, h)
		}
		for _, h := range hosts {
			if _, err := h.Start(b.Context(), clusters.Command{Args: []string{"sleep"}, Log: "sleep"}); err != nil {
				b.Fatal(err)
			}
		}
		phase("hosts")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		phase("close")
	}
	for name, took := range phases {
		b.ReportMetric(float64(took.Milliseconds())/float64(b.N), name+"-ms/op")
	}
}

//go:build linux && e2e

package docker

import (
	"os"
	"strings"
	"testing"

	"github.com/docker/docker/client"

	"lockcheck/clusters"
	"lockcheck/clusters/testkit"
)

// needEngine skips a test where there is no engine; CI must have one.
func needEngine(t *testing.T) *client.Client {
	t.Helper()
	engine, err := connect(t.Context())
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine
}

// openSite makes a site whose servers come from an image made by testImage.
func openSite(t *testing.T, image string, inImage ...string) *site {
	t.Helper()
	needEngine(t)
	if len(inImage) == 0 {
		inImage = nil
	}
	software := clusters.Software{Backend: "test", InImage: inImage, ImageData: "/data"}
	return testkit.Open(t, &Provider{Image: image, Progress: testLog{t}}, software).(*site)
}

type testLog struct{ t *testing.T }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(b)))
	return len(b), nil
}

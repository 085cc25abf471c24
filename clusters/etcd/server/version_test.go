package server

import (
	"os"
	"regexp"
	"testing"
)

// The built-in member and the image that containers are made from are one etcd, the one of go.mod.
func TestTheImageHasTheVersionThatIsBuiltIn(t *testing.T) {
	text, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`go\.etcd\.io/etcd/server/v3 v(\S+)`).FindStringSubmatch(string(text))
	if found == nil {
		t.Fatal("go.mod names no etcd server")
	}
	software := testBackend{}.Software()
	if want := "quay.io/coreos/etcd:v" + found[1]; software.Image != want {
		t.Errorf("the image is %s, want %s", software.Image, want)
	}
	if version, err := software.Version(t.Context(), nil); version != found[1] || err != nil {
		t.Errorf("built in is %s (%v), want %s", version, err, found[1])
	}
}

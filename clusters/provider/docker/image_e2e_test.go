//go:build linux && e2e

package docker

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
)

func init() {
	afterTests = func() {
		if engine, err := connect(context.Background()); err == nil {
			removeTestImages(engine)
		}
	}
}

// testImages has the image of each user, which is made once.
var testImages = struct {
	sync.Mutex
	tags map[string]string
}{tags: map[string]string{}}

// testImage is a server image with the test binary, a shell with its libraries, and a data directory.
func testImage(t *testing.T, engine *client.Client, user string) string {
	t.Helper()
	testImages.Lock()
	defer testImages.Unlock()
	if made := testImages.tags[user]; made != "" {
		return made
	}
	c, err := clientContent(selfPath, "")
	if err != nil {
		t.Fatal(err)
	}
	libraries, err := librariesOf("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(libraries, "/bin/sh") {
		if !slices.ContainsFunc(c.files, func(f imageFile) bool { return f.to == file }) {
			if err := c.add(file, file); err != nil {
				t.Fatal(err)
			}
		}
	}
	placeholder := filepath.Join(t.TempDir(), "placeholder")
	if err := os.WriteFile(placeholder, []byte("of the image\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.add(placeholder, "/data/placeholder"); err != nil {
		t.Fatal(err)
	}
	err = c.configure(map[string]any{
		"Env": append([]string{"PATH=/:/bin"}, c.env...), "Labels": map[string]string{labelTest: "1"}, "User": user,
		"Volumes": map[string]any{"/data": struct{}{}, "/more": struct{}{}},
	})
	if err != nil {
		t.Fatal(err)
	}
	tag := "lockcheck/test:" + c.id[:12]
	if err := c.load(t.Context(), engine, tag); err != nil {
		t.Fatal(err)
	}
	testImages.tags[user] = tag
	return tag
}

const labelTest = "lockcheck.test"

func removeTestImages(engine *client.Client) {
	ctx := context.Background()
	images, _ := engine.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelTest))})
	for _, i := range images {
		_, _ = engine.ImageRemove(ctx, i.ID, image.RemoveOptions{Force: true})
	}
	if c, err := clientContent(selfPath, ""); err == nil { // that of the test binary
		_, _ = engine.ImageRemove(ctx, clientRepository+":"+c.id[:12], image.RemoveOptions{})
	}
}

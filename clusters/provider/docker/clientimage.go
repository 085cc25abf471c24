package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"

	"lockcheck/clusters"
)

// clientRepository is where the image of the clients is kept in the engine, under a tag made from its content.
const clientRepository = "lockcheck/client"

const (
	// inClientImage is where the image has lockcheck's binary.
	inClientImage = "/lockcheck"
	// lockClientInImage is where it has a lock client that is a program of its own.
	lockClientInImage = "/lockclient"
)

// ensureClientImage loads an image with the clients' program into the engine, unless it is there, and returns its tag; with a lock
// client that is a program of its own, if one is named. The same programs make the same image, so runs that do this at the same time
// are not in each other's way.
func ensureClientImage(ctx context.Context, engine *client.Client, arch, lockClient string, progress io.Writer) (string, error) {
	program, done, err := obtainProgram(ctx, arch, progress)
	if err != nil {
		return "", err
	}
	defer done()
	content, err := clientContent(program, lockClient)
	if err != nil {
		return "", err
	}
	tag := clientRepository + ":" + content.id[:12]
	if _, err := engine.ImageInspect(ctx, tag); err == nil {
		return tag, nil
	} else if !isNotFound(err) {
		return "", fmt.Errorf("look for the clients' image %s: %w", tag, err)
	}
	if err := content.load(ctx, engine, tag); err != nil {
		return "", fmt.Errorf("%w: load the clients' image %s into the engine: %w%s", clusters.ErrUnavailable, tag, err, diskHint(err))
	}
	removeOldClientImages(ctx, engine, kindOfImage(lockClient), tag)
	return tag, nil
}

// imageID is what the engine calls the content of an image that it has.
func imageID(ctx context.Context, engine *client.Client, name string) (string, error) {
	found, err := engine.ImageInspect(ctx, name)
	if err != nil {
		return "", fmt.Errorf("look at the image %s: %w", name, err)
	}
	return found.ID, nil
}

// imageContent is an image with one layer.
type imageContent struct {
	arch   string // of its programs, in Go's words
	files  []imageFile
	env    []string
	id     string // sha256 of the image's configuration
	config []byte
	size   int64 // of the layer
}

// imageFile is a file of this machine and where the image has it.
type imageFile struct {
	from, to string
	size     int64
}

// kindOfImage is the value of labelClient: an image with a lock client's program does not replace the one without.
func kindOfImage(lockClient string) string {
	if lockClient != "" {
		return "with a lock client"
	}
	return "1"
}

// clientContent finds what a program needs to start, and names the image after all that is in it.
func clientContent(program, lockClient string) (*imageContent, error) {
	libraries, err := librariesOf(program)
	if err != nil {
		return nil, fmt.Errorf("%w: the clients' image cannot be made from %s: %w; build it without cgo (CGO_ENABLED=0 go build)",
			clusters.ErrUnavailable, program, err)
	}
	arch, err := archOf(program)
	if err != nil {
		return nil, err
	}
	c := &imageContent{arch: arch}
	if err := c.add(program, inClientImage); err != nil {
		return nil, err
	}
	var dirs []string
	for _, library := range libraries {
		if err := c.add(library, library); err != nil {
			return nil, err
		}
		if dir := path.Dir(library); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if err := c.addLockClient(lockClient); err != nil {
		return nil, err
	}
	if len(dirs) > 0 { // the image has no cache of what is where
		c.env = []string{"LD_LIBRARY_PATH=" + strings.Join(dirs, ":")}
	}
	return c, c.configure(map[string]any{
		"Entrypoint": []string{inClientImage}, "Env": append([]string{"PATH=/"}, c.env...), "Labels": map[string]string{labelClient: kindOfImage(lockClient)},
	})
}

// addLockClient adds a lock client that is a program of its own. lockcheck builds such programs without cgo, so that they need
// nothing else.
func (c *imageContent) addLockClient(program string) error {
	if program == "" {
		return nil
	}
	libraries, err := librariesOf(program)
	if err == nil && len(libraries) > 0 {
		err = fmt.Errorf("it needs %s: build it without cgo (CGO_ENABLED=0 go build)", strings.Join(libraries, ", "))
	}
	arch := ""
	if err == nil {
		arch, err = archOf(program)
	}
	if err == nil && arch != c.arch {
		err = fmt.Errorf("it is for %s, and the engine's processor is %s", arch, c.arch)
	}
	if err != nil {
		return fmt.Errorf("%w: the clients' image cannot be made with %s: %w", clusters.ErrUnavailable, program, err)
	}
	return c.add(program, lockClientInImage)
}

func (c *imageContent) add(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	c.files = append(c.files, imageFile{from, to, info.Size()})
	return nil
}

// configure writes the image's configuration in the engine's words, and names the image after it.
func (c *imageContent) configure(config map[string]any) (err error) {
	layer := sha256.New()
	counted := &countingWriter{to: layer}
	if err := c.writeLayer(counted); err != nil {
		return err
	}
	c.size = counted.n
	c.config, err = json.Marshal(map[string]any{
		"architecture": c.arch, "os": "linux", "created": time.Unix(0, 0).UTC().Format(time.RFC3339),
		"config":  config,
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + hex.EncodeToString(layer.Sum(nil))}},
		"history": []map[string]string{{"created_by": "lockcheck"}},
	})
	sum := sha256.Sum256(c.config)
	c.id = hex.EncodeToString(sum[:])
	return err
}

// writeLayer writes the same bytes for the same files.
func (c *imageContent) writeLayer(to io.Writer) error {
	layer := tar.NewWriter(to)
	dirs := []string{}
	for _, f := range c.files {
		for dir := path.Dir(f.to); dir != "/" && !slices.Contains(dirs, dir); dir = path.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs) // parents first
	for _, dir := range dirs {
		if err := layer.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir[1:] + "/", Mode: 0o755}); err != nil {
			return err
		}
	}
	if err := layer.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}); err != nil {
		return err
	}
	for _, f := range c.files {
		if err := writeFile(layer, f); err != nil {
			return fmt.Errorf("read %s: %w", f.from, err)
		}
	}
	return layer.Close()
}

func writeFile(layer *tar.Writer, f imageFile) error {
	file, err := os.Open(f.from)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := layer.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.to[1:], Mode: 0o755, Size: f.size}); err != nil {
		return err
	}
	_, err = io.Copy(layer, file)
	return err
}

// load sends the image as `docker save` writes one.
func (c *imageContent) load(ctx context.Context, engine *client.Client, tag string) error {
	manifest, err := json.Marshal([]map[string]any{{"Config": c.id + ".json", "RepoTags": []string{tag}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return err
	}
	reader, writer := io.Pipe()
	defer reader.Close()
	go func() { writer.CloseWithError(c.writeArchive(writer, manifest)) }()
	answer, err := engine.ImageLoad(ctx, reader, client.ImageLoadWithQuiet(true))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return readProgress(answer.Body, func(progressLine) {})
}

func (c *imageContent) writeArchive(to io.Writer, manifest []byte) error {
	archive := tar.NewWriter(to)
	for name, content := range map[string][]byte{c.id + ".json": c.config, "manifest.json": manifest} {
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
			return err
		}
		if _, err := io.Copy(archive, bytes.NewReader(content)); err != nil {
			return err
		}
	}
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "layer.tar", Mode: 0o644, Size: c.size}); err != nil {
		return err
	}
	if err := c.writeLayer(archive); err != nil {
		return err
	}
	return archive.Close()
}

// removeOldClientImages removes those of other builds that no container uses; one that is used, or that another run has
// just taken into use, stays or is made again by that run.
func removeOldClientImages(ctx context.Context, engine *client.Client, kind, keep string) {
	images, err := engine.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", labelClient+"="+kind))})
	if err != nil {
		return
	}
	for _, i := range images {
		if !slices.Contains(i.RepoTags, keep) {
			_, _ = engine.ImageRemove(ctx, i.ID, image.RemoveOptions{PruneChildren: true})
		}
	}
}

type countingWriter struct {
	to io.Writer
	n  int64
}

func (w *countingWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	w.n += int64(n)
	return n, err
}

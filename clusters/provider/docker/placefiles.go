package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
)

// place puts files into a container, unless there is one already. They belong to whom the data
// directory belongs to, so that a server that runs as another user can write them.
func place(ctx context.Context, in *containerFS, files map[string][]byte) error {
	if len(files) == 0 {
		return nil
	}
	p := &placing{in: in, seen: map[string]bool{"/": true}}
	p.entries = tar.NewWriter(&p.archive)
	names := slices.Sorted(maps.Keys(files))
	err := in.owner(ctx, &p.uid, &p.gid)
	for _, name := range names {
		if err == nil {
			err = p.add(ctx, name, files[name])
		}
	}
	if err == nil {
		err = p.entries.Close()
	}
	if err == nil && p.count > 0 {
		err = in.engine.CopyToContainer(ctx, in.id, "/", &p.archive, container.CopyToContainerOptions{CopyUIDGID: true})
	}
	if err != nil {
		return fmt.Errorf("put %s in place: %w", strings.Join(names, ", "), err)
	}
	return nil
}

// placeBeside puts files of lock clients into a container. They keep no data.
func (h *host) placeBeside(ctx context.Context, id string, files map[string][]byte) error {
	return place(ctx, &containerFS{engine: h.site.engine, id: id, image: newImageFS()}, files)
}

// placing is an archive of what a container does not have yet.
type placing struct {
	in       *containerFS
	uid, gid int

	archive bytes.Buffer
	entries *tar.Writer
	count   int
	seen    map[string]bool // directories that are there, or in the archive
}

// add adds a file, and the directories above it, as far as they are not there.
func (p *placing) add(ctx context.Context, name string, content []byte) error {
	if !path.IsAbs(name) {
		return errors.New("the path is not absolute")
	}
	if there, err := p.in.has(ctx, name); err != nil || there {
		return err
	}
	for _, dir := range parents(name) {
		if p.seen[dir] {
			continue
		}
		p.seen[dir] = true
		there, err := p.in.has(ctx, dir)
		if err == nil && !there {
			err = p.entry(tar.Header{Typeflag: tar.TypeDir, Name: dir[1:] + "/", Mode: 0o755})
		}
		if err != nil {
			return err
		}
	}
	if err := p.entry(tar.Header{Typeflag: tar.TypeReg, Name: name[1:], Mode: 0o644, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := p.entries.Write(content)
	return err
}

func (p *placing) entry(header tar.Header) error {
	p.count++
	header.Uid, header.Gid = p.uid, p.gid
	return p.entries.WriteHeader(&header)
}

// containerFS is what is inside a container that is not started yet. To look costs the engine a tenth of a second, so what
// is as the image has it is looked at once for all containers.
type containerFS struct {
	engine *client.Client
	id     string
	data   string // the data directory
	used   bool   // by a server: it is no longer as the image has it
	image  *imageFS
}

// imageFS is what was seen in containers as the image has it.
type imageFS struct {
	mu       sync.Mutex
	there    map[string]bool
	known    bool // the following
	uid, gid int  // of the data directory
}

func newImageFS() *imageFS { return &imageFS{there: map[string]bool{}} }

// has reports whether there is something with that path.
func (in *containerFS) has(ctx context.Context, name string) (bool, error) {
	if in.used && (name == in.data || strings.HasPrefix(name, in.data+"/")) {
		return in.look(ctx, name)
	}
	in.image.mu.Lock()
	defer in.image.mu.Unlock()
	if there, known := in.image.there[name]; known {
		return there, nil
	}
	there, err := in.look(ctx, name)
	if err == nil {
		in.image.there[name] = there
	}
	return there, err
}

func (in *containerFS) look(ctx context.Context, name string) (bool, error) {
	_, err := in.engine.ContainerStatPath(ctx, in.id, name)
	if isNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// owner is that of the data directory; root if there is none.
func (in *containerFS) owner(ctx context.Context, uid, gid *int) (err error) {
	if in.data == "" {
		return nil
	}
	if in.used {
		*uid, *gid, err = in.lookOwner(ctx)
		return err
	}
	in.image.mu.Lock()
	defer in.image.mu.Unlock()
	if !in.image.known {
		if in.image.uid, in.image.gid, err = in.lookOwner(ctx); err != nil {
			return err
		}
		in.image.known = true
	}
	*uid, *gid = in.image.uid, in.image.gid
	return nil
}

func (in *containerFS) lookOwner(ctx context.Context) (uid, gid int, err error) {
	content, _, err := in.engine.CopyFromContainer(ctx, in.id, in.data)
	if isNotFound(err) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	defer content.Close()
	first, err := tar.NewReader(content).Next()
	if err != nil {
		return 0, 0, fmt.Errorf("look at %s: %w", in.data, err)
	}
	return first.Uid, first.Gid, nil
}

// parents lists the directories above a path, outermost first.
func parents(name string) []string {
	var dirs []string
	for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
		dirs = append([]string{dir}, dirs...)
	}
	return dirs
}

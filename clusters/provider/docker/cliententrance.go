package docker

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker/sandbox"
)

// entranceDir is where containers of the lock client's image have lockcheck's program, which lets the image's own in.
const entranceDir = "/.lockcheck"

// entrance is the image of lock clients, and a volume with lockcheck's program that is mounted into its containers. That program
// needs nothing of the image: no shell, no library, no user.
type entrance struct {
	image   *foundImage
	volume  string
	program []string // what starts lockcheck's program in such a container
}

// makeEntrance finds the image, or pulls it, and fills the volume.
func (s *site) makeEntrance(ctx context.Context, name string, progress io.Writer) (*entrance, error) {
	image, err := findClientImage(ctx, s.engine, name, s.facts.arch, progress)
	if err != nil {
		return nil, err
	}
	program, done, err := obtainProgram(ctx, s.facts.arch, progress)
	if err != nil {
		return nil, err
	}
	defer done()
	content, err := clientContent(program, "")
	if err != nil {
		return nil, err
	}
	e := &entrance{image: image, volume: s.containerName("entrance")}
	e.program = content.moveInto(entranceDir)
	if err := s.fill(ctx, e, content); err != nil {
		return nil, fmt.Errorf("%w: make the volume %s, with which lock clients are started: %w%s", clusters.ErrUnavailable, e.volume, err, diskHint(err))
	}
	return e, nil
}

// fill puts the files into the volume, through a container that is never started.
func (s *site) fill(ctx context.Context, e *entrance, content *imageContent) error {
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	if _, err := s.engine.VolumeCreate(ctx, volume.CreateOptions{Name: e.volume, Labels: s.labels()}); err != nil {
		return err
	}
	made, err := s.engine.ContainerCreate(ctx, &container.Config{Image: e.image.id, Entrypoint: e.program, Labels: s.labels()},
		&container.HostConfig{NetworkMode: "none", Mounts: append(e.image.mounts("", s.labels()), e.mount(false))}, nil, nil, "")
	if err != nil {
		return err
	}
	defer removeContainer(ctx, s.engine, made.ID)
	reader, writer := io.Pipe()
	defer reader.Close()
	go func() {
		files := tar.NewWriter(writer)
		var err error
		for _, f := range content.files {
			if err == nil {
				f.to = "/" + path.Base(f.to)
				err = writeFile(files, f)
			}
		}
		writer.CloseWithError(errors.Join(err, files.Close()))
	}()
	return s.engine.CopyToContainer(ctx, made.ID, entranceDir, reader, container.CopyToContainerOptions{})
}

// mount is its place in a container.
func (e *entrance) mount(readOnly bool) mount.Mount {
	return mount.Mount{Type: mount.TypeVolume, Source: e.volume, Target: entranceDir, ReadOnly: readOnly}
}

// command is what a container begins with: lockcheck's program, which becomes the image's with the given arguments, or with those
// that the image has.
func (e *entrance) command(door string, args []string) ([]string, error) {
	own := args
	if len(own) == 0 {
		own = e.image.command
	}
	own = slices.Concat(e.image.entrypoint, own)
	if len(own) == 0 {
		return nil, fmt.Errorf("%w: the image %s has neither an entry point nor a command: say behind -- what it is to run", clusters.ErrUsage, e.image.ref)
	}
	return slices.Concat(e.program, []string{sandbox.EnterCommand, door}, own), nil
}

// findClientImage finds the image of the lock clients, or pulls it, and refuses one for another processor: its clock could not be
// changed, and it would run, if at all, so slowly that everything it does comes late.
func findClientImage(ctx context.Context, engine *client.Client, name, arch string, progress io.Writer) (*foundImage, error) {
	i, err := findImage(ctx, engine, name, progress)
	if err != nil {
		return nil, fmt.Errorf("%w: image %s of the lock client (--%s): %w%s", clusters.ErrUnavailable, name, clusters.FlagClientImage, err,
			cmp.Or(diskHint(err), "; build it (docker build -t "+name+" …), or name one that is there"))
	}
	if i.system != "linux/"+arch {
		return nil, fmt.Errorf("%w: image %s (--%s) is for %s, and the engine runs on linux/%s: build it for that",
			clusters.ErrUnavailable, name, clusters.FlagClientImage, i.system, arch)
	}
	return i, nil
}

// moveInto puts all files into one directory, and returns what starts the program there: itself, or the loader that it came with.
func (c *imageContent) moveInto(dir string) (start []string) {
	for i := range c.files {
		c.files[i].to = path.Join(dir, path.Base(c.files[i].to))
	}
	program := c.files[0].to
	if len(c.files) == 1 {
		return []string{program}
	}
	loader := c.files[1].to // librariesOf lists it first
	return []string{loader, "--library-path", dir, program}
}

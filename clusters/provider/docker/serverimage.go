package docker

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"lockcheck/clusters"
)

// serverImage is the image of the backend's servers, found in the engine.
type serverImage struct{ *foundImage }

// imageVariable is the environment variable that names the image of a backend's servers.
func imageVariable(software clusters.Software) string {
	return "LOCKCHECK_IMAGE_" + strings.ToUpper(software.Backend)
}

// imageName chooses the image and says who chose it.
func imageName(software clusters.Software, asked string) (name, chosen string) {
	variable := imageVariable(software)
	switch fromEnv := os.Getenv(variable); {
	case asked != "":
		return asked, "--" + clusters.FlagImage
	case fromEnv != "":
		return fromEnv, variable
	}
	return software.Image, "the official image"
}

// findServerImage finds the image, or pulls it, and looks for the server's program in it.
func findServerImage(ctx context.Context, engine *client.Client, software clusters.Software, asked string, labels map[string]string,
	progress io.Writer) (*serverImage, error) {
	name, chosen := imageName(software, asked)
	found, err := findImage(ctx, engine, name, progress)
	if err != nil {
		return nil, fmt.Errorf("%w: image %s of %s (%s): %w%s", clusters.ErrUnavailable, name, software.Backend, chosen, err, imageHint(err, software))
	}
	i := &serverImage{found}
	return i, i.check(ctx, engine, software, found.search, chosen, labels)
}

// check looks for the server's program without starting anything: in a container that is made and removed again.
func (i *serverImage) check(ctx context.Context, engine *client.Client, software clusters.Software, search, chosen string,
	labels map[string]string) error {
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	program := software.InImage[0]
	probe, err := engine.ContainerCreate(ctx, &container.Config{Image: i.id, Cmd: []string{program}, Labels: labels},
		&container.HostConfig{NetworkMode: "none", Mounts: i.mounts("", labels)}, nil, nil, "")
	if err != nil {
		return fmt.Errorf("look into the image %s: %w", i.ref, err)
	}
	defer removeContainer(ctx, engine, probe.ID)
	places := strings.Split(search, ":")
	if path.IsAbs(program) {
		places = []string{""}
	}
	for _, dir := range places {
		_, err := engine.ContainerStatPath(ctx, probe.ID, path.Join(dir, program))
		if err == nil {
			return nil
		}
		if !isNotFound(err) {
			return fmt.Errorf("look into the image %s: %w", i.ref, err)
		}
	}
	return fmt.Errorf("%w: image %s (%s) has no program %s on its PATH (%s), so it is no image of %s: name another with --%s or %s",
		clusters.ErrUnavailable, i.ref, chosen, program, search, software.Backend, clusters.FlagImage, imageVariable(software))
}

// imageHint says what to do about an image that cannot be had.
func imageHint(err error, software clusters.Software) string {
	if hint := diskHint(err); hint != "" {
		return hint
	}
	return "; name one that is there with --" + clusters.FlagImage + " or " + imageVariable(software) +
		`, or build it without any registry: eval "$(scripts/images ` + software.Backend + `)"`
}

// diskHint is for an engine whose disk is full.
func diskHint(err error) string {
	if !strings.Contains(err.Error(), "no space left on device") {
		return ""
	}
	return "; the engine's disk is full: make room (docker system df shows what takes it) and try again"
}

// servers are those of one software: the backend's, or another's that a run needs beside them.
type servers struct {
	software clusters.Software
	image    *serverImage // nil if there is none of it
	fs       *imageFS
}

// command starts one in its image.
func (of *servers) command() (clusters.Command, error) {
	if of.image == nil {
		return clusters.Command{}, fmt.Errorf("%w: the servers of %s are in no image; use %s", clusters.ErrUnavailable, of.software.Backend, clusters.ChooseLocal)
	}
	return clusters.Command{Program: of.software.InImage[0], Args: of.software.InImage[1:], InImage: true}, nil
}

// use says in the plan of a run what the image at a place of site.all is for.
func (of *servers) use(at int) string {
	if at == 0 {
		return "servers"
	}
	return "servers of " + of.software.Backend
}

// all are the backend's and then the others.
func (s *site) all() []*servers {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Concat([]*servers{s.servers}, s.others)
}

// otherSite is a site for servers of another software than the backend's.
type otherSite struct {
	*site
	servers *servers
}

var _ clusters.Shared = (*site)(nil)

// For finds the image of the other servers, or pulls it: the one that their variable names, else the official one.
func (s *site) For(ctx context.Context, software clusters.Software) (clusters.Site, error) {
	of := &servers{software: software, fs: newImageFS()}
	if len(software.InImage) > 0 {
		var err error
		if of.image, err = findServerImage(ctx, s.engine, software, "", s.labels(), io.Discard); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	s.others = append(s.others, of)
	s.mu.Unlock()
	return otherSite{s, of}, nil
}

func (o otherSite) Host(ctx context.Context, name string) (clusters.Host, error) {
	return o.makeHost(ctx, name, o.servers)
}

func (o otherSite) Server(context.Context) (clusters.Command, error) { return o.servers.command() }

package docker

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
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

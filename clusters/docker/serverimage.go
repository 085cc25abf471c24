package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/client"

	"lockcheck/clusters"
)

// serverImage is the image of the backend's servers, found in the engine.
type serverImage struct {
	ref    string // as it was named
	id     string
	digest string // in its registry; "" for one that came from none

	volumes []string // where it declares volumes
}

// mounts are volumes for the places where the image declares them, but one. The engine would make them by itself, but
// without labels, and their owner would be unknown.
func (i *serverImage) mounts(except string, labels map[string]string) []mount.Mount {
	var all []mount.Mount
	for _, place := range i.volumes {
		if place != except {
			all = append(all, mount.Mount{Type: mount.TypeVolume, Target: place, VolumeOptions: &mount.VolumeOptions{Labels: labels}})
		}
	}
	return all
}

// imageName chooses the image and says who chose it.
func imageName(software clusters.Software, asked string) (name, chosen string) {
	variable := "LOCKCHECK_IMAGE_" + strings.ToUpper(software.Backend)
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
	found, err := engine.ImageInspect(ctx, name)
	if isNotFound(err) {
		if err = pull(ctx, engine, name, progress); err == nil {
			found, err = engine.ImageInspect(ctx, name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: image %s of %s (%s): %w%s", clusters.ErrUnavailable, name, software.Backend, chosen, err, imageHint(err, software))
	}
	i := &serverImage{ref: name, id: found.ID}
	if len(found.RepoDigests) > 0 {
		i.digest = found.RepoDigests[0]
	}
	search := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	if found.Config != nil {
		i.volumes = slices.Sorted(maps.Keys(found.Config.Volumes))
		for _, variable := range found.Config.Env {
			if value, ok := strings.CutPrefix(variable, "PATH="); ok {
				search = value
			}
		}
	}
	return i, i.check(ctx, engine, software, search, chosen, labels)
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
		clusters.ErrUnavailable, i.ref, chosen, program, search, software.Backend, clusters.FlagImage, "LOCKCHECK_IMAGE_"+strings.ToUpper(software.Backend))
}

// pullEvery is how often the progress of a pull is told.
const pullEvery = 2 * time.Second

func pull(ctx context.Context, engine *client.Client, name string, progress io.Writer) error {
	if strings.HasPrefix(name, "sha256:") {
		return errors.New("there is no such image in the engine, and one cannot be pulled by its id")
	}
	fmt.Fprintf(progress, "docker: pulling %s, which is not in the engine yet\n", name)
	begun, reported := time.Now(), time.Now()
	stream, err := engine.ImagePull(ctx, name, image.PullOptions{})
	if err != nil {
		return fmt.Errorf("it is not in the engine, and pulling it failed: %w", err)
	}
	defer stream.Close()
	current, total := map[string]int64{}, map[string]int64{}
	err = readProgress(stream, func(line progressLine) {
		if line.Detail.Total > 0 && line.Status == "Downloading" {
			current[line.ID], total[line.ID] = line.Detail.Current, line.Detail.Total
		}
		if time.Since(reported) >= pullEvery {
			reported = time.Now()
			fmt.Fprintf(progress, "docker: pulling %s: %d of %d MB\n", name, sum(current)>>20, sum(total)>>20)
		}
	})
	if err != nil {
		return fmt.Errorf("it is not in the engine, and pulling it failed: %w", err)
	}
	fmt.Fprintf(progress, "docker: pulled %s in %.0f s\n", name, time.Since(begun).Seconds())
	return nil
}

func sum(of map[string]int64) (all int64) {
	for _, n := range of {
		all += n
	}
	return all
}

// progressLine is what the engine says while it pulls or loads.
type progressLine struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Error  string `json:"error"`
	Detail struct {
		Current int64 `json:"current"`
		Total   int64 `json:"total"`
	} `json:"progressDetail"`
}

// readProgress reads to the end. The engine reports a failure in the middle, after it said that all is well.
func readProgress(from io.Reader, each func(progressLine)) error {
	for lines := json.NewDecoder(from); ; {
		var line progressLine
		err := lines.Decode(&line)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the engine's answer broke off: %w", err)
		}
		if line.Error != "" {
			return errors.New(line.Error)
		}
		each(line)
	}
}

// imageHint says what to do about an image that cannot be had.
func imageHint(err error, software clusters.Software) string {
	if hint := diskHint(err); hint != "" {
		return hint
	}
	return "; name one that is there with --" + clusters.FlagImage + " or LOCKCHECK_IMAGE_" + strings.ToUpper(software.Backend) +
		`, or build it without any registry: eval "$(scripts/images ` + software.Backend + `)"`
}

// diskHint is for an engine whose disk is full.
func diskHint(err error) string {
	if !strings.Contains(err.Error(), "no space left on device") {
		return ""
	}
	return "; the engine's disk is full: make room (docker system df shows what takes it) and try again"
}

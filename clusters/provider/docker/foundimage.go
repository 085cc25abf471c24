package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/client"
)

// foundImage is an image that is in the engine.
type foundImage struct {
	ref    string // as it was named
	id     string
	digest string // in its registry; "" for one that came from none
	system string // "linux/amd64"

	volumes             []string // where it declares volumes
	search              string   // its PATH
	entrypoint, command []string // what it runs
}

// defaultSearch is the PATH of an image that names none.
const defaultSearch = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// findImage finds an image in the engine, or pulls it and says so.
func findImage(ctx context.Context, engine *client.Client, name string, progress io.Writer) (*foundImage, error) {
	found, err := engine.ImageInspect(ctx, name)
	if isNotFound(err) {
		if err = pull(ctx, engine, name, progress); err == nil {
			found, err = engine.ImageInspect(ctx, name)
		}
	}
	if err != nil {
		return nil, err
	}
	i := &foundImage{ref: name, id: found.ID, system: found.Os + "/" + found.Architecture, search: defaultSearch}
	if len(found.RepoDigests) > 0 {
		i.digest = found.RepoDigests[0]
	}
	if found.Config == nil {
		return i, nil
	}
	i.volumes = slices.Sorted(maps.Keys(found.Config.Volumes))
	i.entrypoint, i.command = found.Config.Entrypoint, found.Config.Cmd
	for _, variable := range found.Config.Env {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			i.search = value
		}
	}
	return i, nil
}

// mounts are volumes for the places where the image declares them, but one. The engine would make them by itself, but
// without labels, and their owner would be unknown.
func (i *foundImage) mounts(except string, labels map[string]string) []mount.Mount {
	var all []mount.Mount
	for _, place := range i.volumes {
		if place != except {
			all = append(all, mount.Mount{Type: mount.TypeVolume, Target: place, VolumeOptions: &mount.VolumeOptions{Labels: labels}})
		}
	}
	return all
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

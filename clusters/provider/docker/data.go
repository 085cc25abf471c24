package docker

import (
	"context"
	"fmt"
	"slices"

	"github.com/docker/docker/api/types/volume"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker/sandbox"
)

// DataDir is where the image has its data: a volume of the host's is mounted there for each start with that name.
func (h *host) DataDir(name string) (string, error) {
	if err := clusters.CheckName("data directory of host "+h.name, name); err != nil {
		return "", err
	}
	if h.builtIn(name) {
		return builtInData + name, nil
	}
	if h.of.software.ImageData == "" {
		return "", fmt.Errorf("data directory %s of host %s: the servers of %s keep no data in their image", name, h.name, h.of.software.Backend)
	}
	return h.of.software.ImageData, nil
}

// builtInData is where servers that are lockcheck itself keep their data: in the sandbox, which lives as long as its host.
const builtInData = "/tmp/"

// builtIn reports whether data is that of a server that is lockcheck itself.
func (h *host) builtIn(data string) bool { return slices.Contains(h.of.software.BuiltIn, data) }

// volume makes the volume with that data, unless there is one, and returns its name. A new one gets what the image has
// in that place, and its owner, from the engine.
func (h *host) volume(ctx context.Context, data string) (string, error) {
	if _, err := h.DataDir(data); err != nil {
		return "", err
	}
	name := h.site.containerName(h.name, "data", data)
	_, err := h.site.engine.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: h.site.labels(labelHost, h.name)})
	if err != nil {
		return "", fmt.Errorf("make the volume %s: %w", name, err)
	}
	return name, nil
}

// wipeBuiltIn empties the data of a server that is lockcheck itself, as the user that it belongs to.
func (h *host) wipeBuiltIn(ctx context.Context, name string) error {
	p, err := h.Start(ctx, clusters.Command{Args: []string{sandbox.WipeCommand, builtInData + name}, Log: name})
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
		return p.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Wipe removes the volume; the next start gets a new one.
func (h *host) Wipe(ctx context.Context, name string) error {
	if _, err := h.DataDir(name); err != nil {
		return err
	}
	if h.builtIn(name) {
		if err := h.wipeBuiltIn(ctx, name); err != nil {
			return fmt.Errorf("wipe %s of host %s: %w", name, h.name, err)
		}
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.servers {
		if p.data == name && !isClosed(p.done) {
			return fmt.Errorf("wipe %s of host %s: %s is running", name, h.name, p.what)
		}
	}
	engine, v := h.site.engine, h.site.containerName(h.name, "data", name)
	err := onceFree(ctx, func() error { return engine.VolumeRemove(ctx, v, false) })
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("wipe %s of host %s: %w", name, h.name, err)
	}
	delete(h.used, name)
	return nil
}

// containerFS is what is in a container of the host's that is not started yet. From now on, its data counts as used.
func (h *host) containerFS(id, data string) *containerFS {
	h.mu.Lock()
	defer h.mu.Unlock()
	in := &containerFS{engine: h.site.engine, id: id, data: h.of.software.ImageData, used: h.used[data], image: h.of.fs}
	if data != "" {
		h.used[data] = true
	}
	return in
}

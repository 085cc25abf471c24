package docker

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"

	"lockcheck/clusters"
)

// sweepTimeout bounds a sweep, and freeTimeout how long a network or volume may stay in use after its last container went.
const (
	sweepTimeout = 60 * time.Second
	freeTimeout  = 10 * time.Second
	freePoll     = 50 * time.Millisecond
)

// lateCreation is how long after its harness died the engine may still be at work on a container that it was asked for.
const lateCreation = time.Second

// sweepAll sweeps until a look finds nothing more.
func sweepAll(ctx context.Context, engine *client.Client) ([]string, error) {
	var all []string
	for {
		removed, err := sweep(ctx, engine)
		all = append(all, removed...)
		if err != nil || len(removed) == 0 {
			return all, err
		}
		select {
		case <-time.After(lateCreation):
		case <-ctx.Done():
			return all, ctx.Err()
		}
	}
}

func sweep(ctx context.Context, engine *client.Client) ([]string, error) {
	here, err := machine()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	removed, err := remove(ctx, engine, miscountTimeout, labelRun, func(labels map[string]string) bool { return orphaned(labels, here, now) })
	if err != nil { // whatever the engine refuses is no defect of lockcheck's
		err = fmt.Errorf("%w: the container engine at %s refused: %w", clusters.ErrUnavailable, where(engine), err)
	}
	return removed, err
}

// removeRun removes what one run has made and what has not vanished by itself.
func removeRun(ctx context.Context, engine *client.Client, run, owner string) ([]string, error) {
	return remove(ctx, engine, freeTimeout, labelRun+"="+run, func(labels map[string]string) bool {
		return labels[labelRun] == run && labels[labelOwner] == owner
	})
}

// remove removes the things with a label that condemned approves of: first containers, whose end frees the rest. It waits no
// longer than the timeout for networks that are empty and not free.
func remove(ctx context.Context, engine *client.Client, timeout time.Duration, label string, condemned func(map[string]string) bool) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	var removed []string
	var errs []error
	note := func(what string, err error) {
		switch {
		case err == nil:
			removed = append(removed, what)
		case !isNotFound(err): // else another process removed it
			errs = append(errs, fmt.Errorf("remove %s: %w", what, err))
		}
	}
	labelled := filters.NewArgs(filters.Arg("label", label))

	containers, err := engine.ContainerList(ctx, container.ListOptions{All: true, Filters: labelled})
	errs = append(errs, err)
	for _, c := range containers {
		if condemned(c.Labels) {
			note("container "+strings.TrimPrefix(strings.Join(c.Names, " "), "/"), removeContainer(ctx, engine, c.ID))
		}
	}
	networks, err := engine.NetworkList(ctx, network.ListOptions{Filters: labelled})
	errs = append(errs, err)
	for _, n := range networks {
		if condemned(n.Labels) {
			note("network "+n.Name, removeNetwork(ctx, engine, n.ID, timeout))
		}
	}
	volumes, err := engine.VolumeList(ctx, volume.ListOptions{Filters: labelled})
	errs = append(errs, err)
	for _, v := range volumes.Volumes {
		if condemned(v.Labels) {
			note("volume "+v.Name, onceFree(ctx, func() error { return engine.VolumeRemove(ctx, v.Name, false) }))
		}
	}
	return removed, joined(errs)
}

// removeContainer removes a container and waits until it is gone, also when the engine is at it already.
func removeContainer(ctx context.Context, engine *client.Client, id string) error {
	err := engine.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	if err == nil || isNotFound(err) {
		return err
	}
	for deadline := time.Now().Add(freeTimeout); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(freePoll) {
		if _, gone := engine.ContainerInspect(ctx, id); isNotFound(gone) {
			return nil
		}
	}
	return err
}

// onceFree repeats a removal that is refused because something is still in use.
func onceFree(ctx context.Context, remove func() error) error {
	for deadline := time.Now().Add(freeTimeout); ; {
		err := remove()
		if err == nil || isNotFound(err) || time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
		time.Sleep(freePoll)
	}
}

package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"

	"lockcheck/clusters"
)

// miscountTimeout bounds how long a sweep waits for a network of another run that the engine itself calls empty. Most often it is
// about to be free; where the engine has miscounted it never is, and every run on this machine would wait for it.
const miscountTimeout = time.Second

// removeNetwork removes a network whose containers are gone. Miscounted bounds the wait for one that the engine calls empty.
func removeNetwork(ctx context.Context, engine *client.Client, id string, miscounted time.Duration) error {
	for began := time.Now(); ; time.Sleep(freePoll) {
		err := explained(ctx, engine, id, engine.NetworkRemove(ctx, id))
		limit := freeTimeout
		if errors.Is(err, clusters.ErrMiscounted) {
			limit = miscounted
		}
		if err == nil || isNotFound(err) || time.Since(began) > limit || ctx.Err() != nil {
			return err
		}
	}
}

// explained is why a network could not be removed; it wraps clusters.ErrMiscounted if the engine contradicts itself.
func explained(ctx context.Context, engine *client.Client, id string, err error) error {
	if err == nil || !strings.Contains(err.Error(), "has active endpoints") {
		return err
	}
	if there, failed := engine.NetworkInspect(ctx, id, network.InspectOptions{}); failed == nil && len(there.Containers) == 0 {
		return fmt.Errorf("%w (%w)", err, clusters.ErrMiscounted)
	}
	return err
}

// joined joins the errors of a sweep. It wraps clusters.ErrMiscounted only if every one of them does: what else went wrong is not
// excused by it.
func joined(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	whole := errors.Join(errs...)
	if slices.ContainsFunc(errs, func(err error) bool { return !errors.Is(err, clusters.ErrMiscounted) }) {
		for i, err := range errs {
			if errors.Is(err, clusters.ErrMiscounted) {
				errs[i] = errors.New(err.Error())
			}
		}
		return errors.Join(errs...)
	}
	return whole
}

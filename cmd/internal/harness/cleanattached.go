package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client"
	"lockcheck/reports/rundir"
)

// cleanTimeout bounds connecting to a service and removing what one run left there.
const cleanTimeout = 30 * time.Second

// CleanAttached removes what killed runs left at a service that others run, as their directories below out remember it. It says
// what was removed, and what was not looked at. Runs that are under way stay.
func CleanAttached(ctx context.Context, attach, attachConfig, out string) (said []string, err error) {
	places, err := splitEndpoints(attach)
	if err != nil {
		return nil, Usage(fmt.Errorf("--%s=%s: %w", clusters.FlagAttach, attach, err))
	}
	access, err := readAccess(attachConfig, os.Getenv, asIs)
	if err != nil {
		return nil, Usage(err)
	}
	dirs, err := rememberedBelow(out)
	if err != nil {
		return nil, Usage(fmt.Errorf("--out: %w", err))
	}
	var errs []error
	for _, dir := range dirs {
		what, err := cleanRun(ctx, dir, places, access)
		if err != nil {
			err = fmt.Errorf("%s: %w", dir, err)
		}
		if what != "" {
			said = append(said, what)
		}
		errs = append(errs, err)
	}
	return said, errors.Join(errs...)
}

// rememberedBelow are the directories of runs that may have left something at a service. No link is followed.
func rememberedBelow(out string) (dirs []string, err error) {
	err = filepath.WalkDir(out, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && entry.Name() == rundir.AttachedFile {
			dirs = append(dirs, filepath.Dir(path))
		}
		if errors.Is(err, fs.ErrNotExist) && path == out {
			return nil
		}
		return err
	})
	return dirs, err
}

// cleanRun removes what one run left, if it was at these places.
func cleanRun(ctx context.Context, dir string, places []string, access client.Access) (string, error) {
	release, err := rundir.Hold(dir)
	switch {
	case errors.Is(err, rundir.ErrHeld):
		return "left: " + dir + " is under way", nil
	case err != nil:
		return "", err
	}
	defer release()
	left, err := rundir.Remembered(dir)
	if err != nil || left == nil {
		return "", AsUsage(err)
	}
	if err := plausible(left); err != nil {
		return "", Usage(err)
	}
	if !samePlaces(left.Service.Endpoints, places) {
		return fmt.Sprintf("left: %s was at %s", dir, strings.Join(askedOf(left.Service.Endpoints), ",")), nil
	}
	ctx, cancel := context.WithTimeout(ctx, cleanTimeout)
	defer cancel()
	service, err := reattach(ctx, left, places, access)
	if err != nil {
		return "", err
	}
	defer service.Close()
	if service.Place() != left.Service.Place {
		return fmt.Sprintf("left: %s has %s, and --%s leads to %s: name the one that the run was told of", dir, left.Service.Place, clusters.FlagAttachConfig, service.Place()), nil
	}
	if err := service.Check(ctx); err != nil {
		return "", err
	}
	if err := clusters.Removed(ctx, service); err != nil {
		return "", err
	}
	return fmt.Sprintf("removed %s at %s, of %s", service.Place(), strings.Join(places, ","), dir), rundir.ForgetAt(dir)
}

// prefixes are those of prefixOf.
var prefixes = regexp.MustCompile(`^\d{8}-[0-9a-f]{8}/$`)

// plausible refuses names that no run has: what they stand for at the service belongs to another user.
func plausible(left *rundir.Attached) error {
	prefix := left.Service.Prefix
	if !prefixes.MatchString(prefix) || slices.ContainsFunc(left.Keys, func(key string) bool { return !strings.HasPrefix(key, prefix) }) {
		return fmt.Errorf("%s names keys that no run of lockcheck's has: prefix %q, keys %q", rundir.AttachedFile, prefix, left.Keys)
	}
	return nil
}

func askedOf(endpoints []history.AttachedEndpoint) (all []string) {
	for _, e := range endpoints {
		all = append(all, e.Asked)
	}
	return all
}

func samePlaces(endpoints []history.AttachedEndpoint, places []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(askedOf(endpoints))), slices.Sorted(slices.Values(places)))
}

// reattach connects to the service from this machine itself: there are no clients to disturb.
func reattach(ctx context.Context, left *rundir.Attached, places []string, access client.Access) (clusters.AttachedCluster, error) {
	backend, err := backendNamed(left.Backend)
	if err != nil {
		return nil, err
	}
	able, ok := backend.(clusters.Attachable)
	if !ok {
		return nil, fmt.Errorf("lockcheck cannot attach to %s", left.Backend)
	}
	access, err = able.Credentials().Fit(left.Backend, len(places), access)
	if err != nil {
		return nil, Usage(err)
	}
	to := clusters.Attachment{Dial: (&net.Dialer{}).DialContext, Access: access, Prefix: left.Service.Prefix, Keys: left.Keys}
	for i, name := range clusters.NodeNames(len(places)) {
		at, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", hostOf(places[i]))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", clusters.ErrUnavailable, err)
		}
		_, port, _ := net.SplitHostPort(places[i])
		outside, err := netip.ParseAddrPort(net.JoinHostPort(at[0].Unmap().String(), port))
		if err != nil {
			return nil, err
		}
		to.Nodes = append(to.Nodes, &clusters.AttachedNode{NodeName: name, Asked: places[i], Outside: outside})
	}
	return able.Attach(to)
}

func hostOf(place string) string {
	host, _, _ := net.SplitHostPort(place)
	return host
}

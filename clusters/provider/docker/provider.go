// Package docker is the provider that runs everything in containers of a Docker engine, which may be on another machine.
//
//	lockcheck ── engine's API ──┐ (no port published, no file shared, no process id relied on)
//	┌───────────────────────────▼───────── one run: a private network ──────────────────────────┐
//	│  ┌──────── host n1 ────────┐ ┌──────── host c1 ────────┐ ┌─── resource ───┐ ┌── relay ──┐  │
//	│  │ sandbox: PID 1, address │ │ sandbox                 │ │ sandbox        │ │ sandbox   │  │
//	│  │  ├ lockcheck agent      │ │  └ lockcheck client …   │ │  └ lockcheck … │ │ Site.Dial │  │
//	│  │  ┊                      │ │                         │ │                │ │           │  │
//	│  │ redis-server …          │ │                         │ │                │ │           │  │
//	│  │ (a container of its own,│ │                         │ │                │ │           │  │
//	│  │  from the image as it is│ │                         │ │                │ │           │  │
//	│  └─────────────────────────┘ └─────────────────────────┘ └────────────────┘ └───────────┘  │
//	└───────────────────────────────────────────────────────────────────────────────────────────┘
//
// Where others run the service (--attach), the harness is its way out as well: a host that relays hands each connection to the harness,
// which connects to the place outside (relay.go). No host has another way, not even to the engine's machine.
//
// A host is a small container made from lockcheck's own binary. It owns the host's network and PID namespaces for the
// whole run; the server's container, which comes and goes, joins both. So an address, and rules about it, outlive a
// server; and a server's processes are stopped and read back from inside, in well under a millisecond, with any first process
// of its image. (A first process of a PID namespace ignores SIGSTOP from inside; a server that has joined a namespace is never
// that. The price: an image that insists on being process 1, as those with systemd or s6-overlay do, cannot be used.)
//
// Nothing of a run outlives the harness for long: a sandbox ends when its control stream does, the kernel kills all that
// is in its PID namespace, and the engine removes containers that have ended. A janitor, a process on the harness's machine,
// removes networks and volumes. They bear labels, and where it was killed, too, the next start or Sweep removes them.
package docker

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/containerd/errdefs"

	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// Name is what users call this provider.
const Name = clusters.Docker

// Provider makes sites in a Docker engine. The zero value uses the engine that the environment names.
type Provider struct {
	Image       string    // of the servers (clusters.FlagImage); "" for LOCKCHECK_IMAGE_<BACKEND>, else the official one
	ClientImage string    // of lock clients (clusters.FlagClientImage); "" for none
	Places      []string  // outside, host:port, to which the harness connects for a run (clusters.Outward)
	Progress    io.Writer // a line for what takes long; nil for none
}

var _ clusters.Provider = (*Provider)(nil)

// Name is "docker".
func (*Provider) Name() string { return Name }

// Open makes a run's network and loads what it will need into the engine. Errors wrap ErrUnavailable where the engine or
// an image is missing, and say what to do.
func (p *Provider) Open(ctx context.Context, spec clusters.SiteSpec) (clusters.Site, error) {
	progress := p.Progress
	if progress == nil {
		progress = io.Discard
	}
	if len(spec.Disks) > 0 {
		return nil, errNoDisks
	}
	engine, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	s := newSite(engine, spec, p.Places)
	if err := s.prepare(ctx, p, progress); err != nil {
		return nil, refused(errors.Join(err, s.Close()))
	}
	return s, nil
}

// errNoDisks refuses faults of disks, and power cuts. A file system that one container mounts reaches another one only through a directory of the
// engine's machine whose mounts are shared, which no engine promises, and what is mounted there would outlive a run that is killed.
var errNoDisks = fmt.Errorf("%w: faults of disks and power cuts need a file system of lockcheck's own under a server's data, and an engine passes no mount that one "+
	"container makes on to another one: use %s", clusters.ErrUnavailable, clusters.ChooseLocal)

// prepare does at once what does not depend on each other.
func (s *site) prepare(ctx context.Context, p *Provider, progress io.Writer) error {
	var err error
	if s.janitor, err = startJanitor(s.run, s.owner); err != nil {
		return err
	}
	if s.facts, err = learn(ctx, s.engine); err != nil {
		return err
	}
	if removed, err := sweep(ctx, s.engine); err != nil {
		fmt.Fprintf(progress, "docker: what earlier runs left could not be removed: %v\n", err)
	} else if len(removed) > 0 {
		fmt.Fprintf(progress, "docker: removed %s that earlier runs left\n", history.Counted(len(removed), "container, network or volume", "containers, networks and volumes"))
	}
	tasks := []func() error{
		func() (err error) {
			if s.clientImage, err = ensureClientImage(ctx, s.engine, s.facts.arch, s.program, progress); err == nil {
				s.clientImageID, err = imageID(ctx, s.engine, s.clientImage)
			}
			return err
		},
		func() (err error) { s.net, err = newNetwork(ctx, s.engine, s.name, s.labels()); return err },
	}
	if len(s.servers.software.InImage) > 0 {
		tasks = append(tasks, func() (err error) {
			s.servers.image, err = findServerImage(ctx, s.engine, s.servers.software, p.Image, s.labels(), progress)
			return err
		})
	}
	if p.ClientImage != "" {
		tasks = append(tasks, func() (err error) { s.entrance, err = s.makeEntrance(ctx, p.ClientImage, progress); return err })
	}
	failed := make(chan error, len(tasks))
	for _, task := range tasks {
		go func() { failed <- task() }()
	}
	var errs []error
	for range tasks {
		errs = append(errs, <-failed)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	s.relay, err = s.makeHost(ctx, relayName, s.servers)
	return err
}

// Sweep removes the containers, networks and volumes of runs whose harness is dead, and says what it removed. Runs of
// other machines are left alone for a day: whether they live cannot be seen from here. What does not bear lockcheck's
// labels is never touched; the cached image of the clients stays. Where there is no engine that this user could have used,
// nothing was left; an engine that does not answer is an error that wraps ErrUnavailable.
func Sweep(ctx context.Context) (removed []string, err error) {
	if noneHere() {
		return nil, nil
	}
	engine, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	return sweepAll(ctx, engine)
}

// isNotFound reports whether the engine does not have what it was asked about.
func isNotFound(err error) bool { return errdefs.IsNotFound(err) }

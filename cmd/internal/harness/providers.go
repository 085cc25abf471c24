package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/provider/docker"
	"lockcheck/clusters/provider/local"
)

// Where is what a user says of the place where servers and clients run.
type Where struct {
	Provider    string
	ServerPaths clusters.ServerPaths // local: of server programs
	Image       string               // docker: of the servers
	ClientImage string               // docker: of lock clients; "" for one that comes with the backend, or a program of this machine
}

// Provider is one row of the table of providers.
type Provider struct {
	Name, About string
	// available says why the software cannot run there, before anything is made.
	available func(context.Context, Where, clusters.Software) error
	// obtainable looks for what else the software needs there, such as an image.
	obtainable func(context.Context, Where, clusters.Software) error
	// open gets the place ready. The error is ExitStatus if the run was made by another process.
	open func(Where, outside) (clusters.Provider, error)
}

// Providers is the table of places to run in; Auto takes the first that can run the backend.
var Providers = []Provider{
	{
		Name: Local, About: "processes of this machine, each in a network namespace of its own",
		available: localAvailable, open: enter,
		obtainable: func(context.Context, Where, clusters.Software) error { return nil },
	},
	{
		Name: docker.Name, About: "containers of a Docker engine, which may be on another machine",
		available: func(ctx context.Context, _ Where, _ clusters.Software) error { return docker.Available(ctx) },
		obtainable: func(ctx context.Context, at Where, software clusters.Software) error {
			return errors.Join(docker.ImageObtainable(ctx, software, at.Image), docker.ClientImageObtainable(ctx, at.ClientImage))
		},
		open: func(at Where, see outside) (clusters.Provider, error) {
			return &docker.Provider{Image: at.Image, ClientImage: at.ClientImage, Places: see.places, Progress: os.Stderr}, nil
		},
	},
}

const (
	// Auto leaves the choice of the provider to lockcheck.
	Auto = "auto"
	// Local is the provider that runs processes of this machine.
	Local = clusters.Local
)

// ProviderNames are what --provider can be.
func ProviderNames() []string {
	names := []string{Auto}
	for _, p := range Providers {
		names = append(names, p.Name)
	}
	return names
}

// Choose is the provider that was asked for, or the first that can run the software; passedOver says why those before
// it cannot. It does not look at anything that the seed decides.
func Choose(ctx context.Context, at Where, software clusters.Software) (chosen Provider, passedOver error, err error) {
	var reasons []error
	for _, p := range Providers {
		if at.Provider == p.Name {
			return p, nil, nil // what is missing is said when it is opened, with more detail
		}
		if at.Provider != Auto {
			continue
		}
		err := p.available(ctx, at, software)
		if err == nil {
			return p, errors.Join(reasons...), nil
		}
		reasons = append(reasons, fmt.Errorf("%s: %w", p.Name, err))
	}
	if at.Provider != Auto {
		return Provider{}, nil, Usage(fmt.Errorf("--%s: %w", clusters.FlagProvider, history.Unknown("provider", at.Provider, ProviderNames())))
	}
	return Provider{}, nil, fmt.Errorf("no provider can run %s here:\n%w", software.Backend, errors.Join(reasons...))
}

// open gets the lock client and then the place where the run is made.
func (p *planned) open(ctx context.Context) (_ clusters.Provider, err error) {
	if p.ClientCommand.Program, err = p.obtainClient(ctx); err != nil {
		return nil, err
	}
	return p.provider.open(p.asked.Where, p.outside())
}

// obtainClient is the program of a lock client, which is found or built if it is one of its own. That may take minutes: whether the servers
// are there is looked at before.
func (p *planned) obtainClient(ctx context.Context) (program string, err error) {
	program = p.ClientCommand.Program
	if isProgram(p.Plan.LockClient) || p.ClientCommand.InClientImage {
		return program, nil
	}
	chosen, err := clientNamed(p.Backend, p.Plan.LockClient)
	if err != nil || chosen.Program == nil {
		return program, err
	}
	if err := p.provider.available(ctx, p.asked.Where, p.asked.Software(p.Backend)); err != nil {
		return "", err
	}
	program, err = chosen.Program.Obtain(ctx, runtime.GOARCH, os.Stderr)
	if err != nil {
		return "", fmt.Errorf("the lock client %s of %s: %w", chosen.Name, p.Backend.Name(), err)
	}
	return program, nil
}

// Obtainable is an error if the software cannot run where it is asked for: no server on this machine, no engine, no image of it.
// Nothing is made, and nothing pulled. What only shows once a provider is opened, such as a kernel that refuses namespaces, is
// not looked at. The error wraps clusters.ErrUnavailable or is one of usage.
func Obtainable(ctx context.Context, at Where, software clusters.Software) error {
	chosen, _, err := Choose(ctx, at, software)
	if err != nil {
		return err
	}
	if err := chosen.available(ctx, at, software); err != nil {
		return err
	}
	return chosen.obtainable(ctx, at, software)
}

func localAvailable(ctx context.Context, at Where, software clusters.Software) error {
	if err := local.Available(); err != nil {
		return err
	}
	_, err := software.Find(ctx, at.ServerPaths)
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"lockcheck/clusters"
	"lockcheck/clusters/docker"
	"lockcheck/clusters/local"
)

// where is what a user says of the place where servers and clients run.
type where struct {
	provider string
	places   clusters.Places // local: of server programs
	image    string          // docker: of the servers
	keep     []string        // local: paths that the harness will need
}

// providerKind is one row of the table of providers.
type providerKind struct {
	name, about string
	// available says why the software cannot run there, before anything is made.
	available func(context.Context, where, clusters.Software) error
	// open returns a nil provider if the run was made by another process meanwhile, with its exit code.
	open func(where) (clusters.Provider, int, error)
	// examine is what doctor says of it, beyond what is said of every backend; nil for nothing.
	examine func(context.Context, where) []symptom
}

// providers is the table of places to run in; auto takes the first that can run the backend.
var providers = []providerKind{
	{
		name: onThisMachine, about: "processes of this machine, each in a network namespace of its own",
		available: localAvailable, open: openLocal,
	},
	{
		name: docker.Name, about: "containers of a Docker engine, which may be on another machine",
		available: func(ctx context.Context, _ where, _ clusters.Software) error { return docker.Available(ctx) },
		open: func(at where) (clusters.Provider, int, error) {
			return &docker.Provider{Image: at.image, Progress: os.Stderr}, 0, nil
		},
		examine: examineDocker,
	},
}

// auto leaves the choice of the provider to lockcheck.
const auto = "auto"

func providerNames() []string {
	names := []string{auto}
	for _, p := range providers {
		names = append(names, p.name)
	}
	return names
}

// chooseProvider is the provider that was asked for, or the first that can run the software; passedOver says why those before
// it cannot. It does not look at anything that the seed decides.
func chooseProvider(ctx context.Context, at where, software clusters.Software) (chosen providerKind, passedOver error, err error) {
	var reasons []error
	for _, p := range providers {
		if at.provider == p.name {
			return p, nil, nil // what is missing is said when it is opened, with more detail
		}
		if at.provider != auto {
			continue
		}
		err := p.available(ctx, at, software)
		if err == nil {
			return p, errors.Join(reasons...), nil
		}
		reasons = append(reasons, fmt.Errorf("%s: %w", p.name, err))
	}
	if at.provider != auto {
		return providerKind{}, nil, usageError{fmt.Errorf("--provider: there is no provider %q; there are: %s", at.provider, strings.Join(providerNames(), ", "))}
	}
	return providerKind{}, nil, fmt.Errorf("no provider can run %s here:\n%w", software.Backend, errors.Join(reasons...))
}

func localAvailable(_ context.Context, at where, software clusters.Software) error {
	if software.OnMachine == nil {
		return nil // lockcheck is the server
	}
	_, err := software.OnMachine(at.places)
	return err
}

func openLocal(at where) (clusters.Provider, int, error) {
	provider, code, err := local.Enter(at.keep...)
	if err != nil || provider == nil {
		return nil, code, err
	}
	provider.Places = at.places
	return provider, 0, nil
}

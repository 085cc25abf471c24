//go:build planted

package harness

import (
	"cmp"
	"context"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/client/plant"
	"lockcheck/clusters/resource"
)

// Built with the tag "planted", lockcheck can be broken on purpose: every lock client NAME also exists as NAME+PLANT
// (package plant), and the resource takes --plant=compare-nothing, which can be made its default when linking:
//
//	go build -tags planted -ldflags '-X lockcheck/cmd/internal/harness.resourcePlant=compare-nothing' ./cmd/lockcheck
func init() {
	for i, backend := range Backends {
		broken := plantedBackend{backend}
		Backends[i] = broken
		if _, ok := backend.(clusters.Attachable); ok {
			Backends[i] = plantedAttachable{broken}
		}
	}
}

type plantedBackend struct{ clusters.Described }

func (b plantedBackend) Clients() []clusters.LockClient {
	clients := b.Described.Clients()
	all := clients[:len(clients):len(clients)]
	for _, c := range clients {
		for _, p := range plant.Plants {
			broken := clusters.LockClient{Name: c.Name + "+" + p.Name, About: c.About + "; " + p.About, Program: c.Program}
			if c.New != nil { // a program of its own has to be built with the same tag
				broken.New = p.Wrap(c.New)
			}
			all = append(all, broken)
		}
	}
	return all
}

// plantedAttachable passes on the ability to be attached to.
type plantedAttachable struct{ plantedBackend }

var _ clusters.AttachLayouter = plantedAttachable{}

func (b plantedAttachable) AttachLayout(endpoints int, opts clusters.Options) (clusters.Layout, error) {
	return clusters.AttachLayout(b.Described, endpoints, opts)
}

func (b plantedAttachable) Credentials() clusters.Credentials {
	return b.Described.(clusters.Attachable).Credentials()
}

func (b plantedAttachable) Attach(to clusters.Attachment) (clusters.AttachedCluster, error) {
	return b.Described.(clusters.Attachable).Attach(to)
}

// prefixPlant is the prefix of all runs at services that others run; "" for one of their own each. It is set when linking.
var prefixPlant string

func plantPrefix(prefix string) string { return cmp.Or(prefixPlant, prefix) }

// RunNode passes on the one optional ability of a backend that roles look for.
func (b plantedBackend) RunNode(ctx context.Context, args []string) error {
	return b.Described.(clusters.NodeRunner).RunNode(ctx, args)
}

// resourcePlant is the default of --plant.
var resourcePlant string

// plantResource adds --plant: compare-nothing makes a resource plain, whatever it is asked to compare.
func plantResource(flags *pflag.FlagSet, mode func() resource.Mode) func() resource.Mode {
	flag := flags.String("plant", resourcePlant, "break it on purpose: compare-nothing")
	return func() resource.Mode {
		m := mode()
		if *flag == "compare-nothing" {
			m.Kind, m.Keyed = history.ResourcePlain, false
		}
		return m
	}
}

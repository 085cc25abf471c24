//go:build linux

package local

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"lockcheck/clusters"
	"lockcheck/clusters/provider/relay"
)

// Provider makes hosts of this machine's own processes. The zero value works on loopback; Enter returns a better one.
type Provider struct {
	ServerPaths clusters.ServerPaths // of server programs

	inside bool   // whether this process is in namespaces of its own
	data   string // the private tmpfs; inside only
	reason string // why not inside

	outside relay.Outside // nil for no places
}

var _ clusters.Provider = (*Provider)(nil)

// Available is nil on Linux: how well it works there shows when it is opened.
func Available() error { return nil }

// Name is "local".
func (*Provider) Name() string { return clusters.Local }

// Open makes the network of a run and the place for its data.
func (p *Provider) Open(ctx context.Context, spec clusters.SiteSpec) (clusters.Site, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if spec.LogDir == "" {
		return nil, fmt.Errorf("open a local site: no directory for logs was given")
	}
	logs, err := filepath.Abs(spec.LogDir)
	if err != nil {
		return nil, fmt.Errorf("open a local site: %w", err)
	}
	if p.outside == nil {
		p.outside = relay.NewPlaces(nil)
	}
	s := &site{mark: newMark(), logs: logs, isolated: p.inside, reason: p.reason, software: spec.Software, serverPaths: p.ServerPaths, Exits: relay.NewExits(p.outside), hosts: map[string]*host{}, onDisks: spec.Disks, powerCuts: spec.PowerCuts}
	if len(spec.Disks) > 0 {
		if err := p.canMount(); err != nil {
			return nil, err
		}
	}
	if p.inside {
		err = s.openIsolated(p.data)
	} else {
		if s.reason == "" {
			s.reason = "the harness did not enter namespaces (local.Enter was not called)"
		}
		err = s.openLoopback()
	}
	if err != nil {
		return nil, fmt.Errorf("open a local site for %s: %w", spec.Run, err)
	}
	return s, nil
}

func (s *site) openIsolated(data string) (err error) {
	if s.data, err = os.MkdirTemp(data, "lockcheck-"); err != nil {
		return err
	}
	s.net, err = numberedBridge()
	return err
}

func (s *site) openLoopback() (err error) {
	s.data = filepath.Join(os.TempDir(), "lockcheck-"+s.mark)
	if s.janitor, err = startJanitor(s.mark, s.data); err != nil {
		return err
	}
	if s.net, err = newLoopback(); err != nil {
		_ = s.janitor.dismiss()
	}
	return err
}

// newMark makes a word that is in the environment of every process of one site, and of no other process.
func newMark() string {
	word := make([]byte, 12)
	_, _ = rand.Read(word) // never fails
	return hex.EncodeToString(word)
}

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"lockcheck/clusters"
	"lockcheck/clusters/local"
	"lockcheck/cmd/internal/harness"
	"lockcheck/nemesis"
)

// doctor says of each server on this machine which version it is.
func TestDoctorSaysVersions(t *testing.T) {
	said := regexp.MustCompile(`^[0-9]+(\.[0-9]+){1,2}\S*, `)
	for _, b := range harness.Backends {
		words, err := serverWords(t.Context(), b.Software(), clusters.ServerPaths{})
		if errors.Is(err, clusters.ErrUnavailable) {
			t.Logf("%s: %v", b.Name(), err)
			continue
		}
		if err != nil || !said.MatchString(words) {
			t.Errorf("%s: it says %q (%v)", b.Name(), words, err)
		}
	}
}

// What a fault needs of this machine doctor tries, and says what its absence costs.
func TestDoctorTriesWhatFaultsNeed(t *testing.T) {
	of := map[nemesis.Capability]string{
		nemesis.CapabilityNetwork: local.AbilityNftables, nemesis.CapabilityDelay: abilityDelay, nemesis.CapabilityClock: local.AbilityPtrace,
		nemesis.CapabilityRate: local.AbilityTBF, nemesis.CapabilitySlow: local.AbilitySchedstat,
		nemesis.CapabilityDisk: local.AbilityFUSE, nemesis.CapabilityPower: local.AbilityFUSE,
		nemesis.CapabilityFailover: local.AbilityNamespaces, // the service's own doing: it needs no more than every run
	}
	for _, name := range nemesis.Names() {
		n, err := nemesis.New(name, nemesis.Plan{Seed: 1, TTL: time.Second, Limit: time.Second, Servers: 3, Clients: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, needed := range n.Capabilities() {
			if ability := of[needed]; costs[ability] == "" || ability != abilityDelay && works[ability] == "" {
				t.Errorf("%s needs %q, of which doctor says nothing", name, needed)
			}
		}
	}
}

// A program that does not say its version is there all the same.
func TestDoctorOfAServerWithoutAVersion(t *testing.T) {
	program := filepath.Join(t.TempDir(), "redis-server")
	for text, says := range map[string]string{
		"#!/bin/sh\necho hello\n":                                 `its version is unknown: ` + program + ` did not say its version, but "hello\n"`,
		"#!/bin/sh\nexit 3\n":                                     "did not say its version: exit status 3",
		"#!/bin/sh\necho 'Redis server v=9.8.7 sha=00000000:0'\n": "9.8.7, " + program,
	} {
		if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, b := range harness.Backends {
			if b.Name() != "redis" {
				continue
			}
			if words, err := serverWords(context.Background(), b.Software(), clusters.ServerPaths{Bin: program}); err != nil || !strings.Contains(words, says) {
				t.Errorf("it says %q (%v), want %q", words, err, says)
			}
		}
	}
}

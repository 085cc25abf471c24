package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/clusters/provider/local"
	"lockcheck/cmd/internal/harness"
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

func TestDoctorOfOptionalServers(t *testing.T) {
	for _, b := range harness.Backends {
		for _, o := range b.Software().Optional {
			o.OnMachine = func(clusters.ServerPaths) ([]string, error) { return []string{"/no/such/program"}, nil }
			if words, err := serverWords(t.Context(), o.Software, clusters.ServerPaths{}); err != nil || !strings.Contains(words, "/no/such/program") {
				t.Errorf("%s: %q, %v", o.Backend, words, err)
			}
		}
	}
}

// What a fault needs of this machine doctor tries, and says what its absence costs.
func TestDoctorTriesWhatFaultsNeed(t *testing.T) {
	for _, fault := range history.Faults() {
		for _, ability := range fault.Machine {
			if !slices.ContainsFunc(knownAbilities, func(k local.Known) bool { return k.Name == ability }) {
				t.Errorf("%s needs %q, which doctor does not try", fault.Name, ability)
			} else if fault.Lacking == "" || !strings.Contains(without(ability), "no "+fault.Lacking) {
				t.Errorf("without %s there is no %s: doctor says %q", ability, fault.Name, without(ability))
			}
		}
		// A change of the leader is the service's own doing: it needs no more than every run.
		if needs := fault.Capability != "" && fault.Capability != history.CapabilityFailover; needs && len(fault.Machine) == 0 {
			t.Errorf("%s needs %q, of which doctor says nothing", fault.Name, fault.Capability)
		}
	}
	for ability, want := range map[string]string{
		local.AbilityNamespaces: "local: no partitions, and servers listen on the loopback network instead of one of their own",
		"nftables":              "local: no partitions and no packet loss",
		"delay":                 "local: no network delay",
		"vdso":                  "no clock skew",
	} {
		if got := without(ability); got != want {
			t.Errorf("without %s: %q, want %q", ability, got, want)
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

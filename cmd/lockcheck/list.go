package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/cmd/internal/harness"
	"lockcheck/nemesis"
	"lockcheck/workloads"
)

// listed is one thing that a flag of run can name.
type listed struct {
	Name    string   `json:"name"`
	About   string   `json:"about"`
	Default string   `json:"usual,omitempty"`   // of a nemesis: the mix that its bare name stands for
	Clients []listed `json:"clients,omitempty"` // of a backend; the first is the default
}

// menu is all that run can be asked for, by the flag that asks.
type menu struct {
	Backends  []listed `json:"backends"`
	Workloads []listed `json:"workloads"`
	Resources []listed `json:"resources"`
	Nemeses   []listed `json:"nemeses"`
	Targets   []listed `json:"targets"`  // of a nemesis
	Triggers  []listed `json:"triggers"` // of a nemesis
	Guards    []listed `json:"guards"`
	// Executions are those of workload jobs.
	Executions []listed `json:"executions"`
	Providers  []listed `json:"providers"`
}

func listCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List backends, lock clients, workloads and faults", Args: flagsOnly,
		Example: "  lockcheck list\n  lockcheck list --json | jq -r '.backends[].name'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				encoder := json.NewEncoder(cmd.OutOrStdout())
				encoder.SetIndent("", "  ")
				return encoder.Encode(everything())
			}
			return everything().print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return cmd
}

func everything() menu {
	var m menu
	for _, b := range harness.Backends {
		backend := listed{Name: b.Name(), About: b.About()}
		for _, c := range b.Clients() {
			backend.Clients = append(backend.Clients, listed{Name: c.Name, About: c.About})
		}
		m.Backends = append(m.Backends, backend)
	}
	for _, w := range workloads.All {
		m.Workloads = append(m.Workloads, listed{Name: w.Name, About: w.About})
	}
	for _, r := range history.Resources {
		resource := listed{Name: string(r.Name), About: r.About}
		var defaultOf []string
		for _, w := range workloads.All {
			if w.Resource == r.Name {
				defaultOf = append(defaultOf, w.Name)
			}
		}
		if len(defaultOf) > 0 {
			resource.About += " (default of workload " + strings.Join(defaultOf, ", ") + ")"
		}
		m.Resources = append(m.Resources, resource)
	}
	for _, k := range nemesis.Kinds {
		m.Nemeses = append(m.Nemeses, listed{Name: k.Name, About: k.About, Default: k.Default})
	}
	for _, word := range nemesis.Targets() {
		m.Targets = append(m.Targets, listed{Name: word.Name, About: word.About})
	}
	for _, word := range nemesis.Triggers() {
		m.Triggers = append(m.Triggers, listed{Name: word.Name, About: word.About})
	}
	for _, g := range history.Guards {
		guard := listed{Name: string(g.Name), About: g.About}
		if guard.Name == harness.Default().Guard {
			guard.About += " (default)"
		}
		m.Guards = append(m.Guards, guard)
	}
	for i, e := range history.Executions {
		execution := listed{Name: string(e.Name), About: e.About}
		if i == 0 {
			execution.About += " (default)"
		}
		m.Executions = append(m.Executions, execution)
	}
	m.Providers = []listed{{Name: harness.Auto, About: "the first of the following that can run the backend here (default)"}}
	for _, p := range harness.Providers {
		m.Providers = append(m.Providers, listed{Name: p.Name, About: p.About})
	}
	return m
}

func (m menu) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "--backend, and its lock clients for --client (the first is the default); an election is a lock: to campaign is to acquire, to resign to release")
	for _, b := range m.Backends {
		fmt.Fprintf(w, "  %s\t%s\n", b.Name, b.About)
		for _, c := range b.Clients {
			fmt.Fprintf(w, "    %s\t%s\n", c.Name, c.About)
		}
	}
	fmt.Fprintln(w, "    ./PROGRAM\tany program that speaks the client protocol (clusters/client/README.md); "+clusters.ChooseLocal)
	for _, section := range []struct {
		flag string
		of   []listed
	}{
		{"--workload", m.Workloads}, {"--resource", m.Resources}, {"--nemesis: KIND[:TARGET[-OTHER SIDE]][+SHIFT][@TRIGGER][,OPTION...], mixed by commas, in sequence by semicolons (a step with a duration lasts for it, others as long as the last)", m.Nemeses},
		{"--nemesis: targets", m.Targets}, {"--nemesis: triggers", m.Triggers}, {"--guard", m.Guards}, {"--execution: of workload jobs", m.Executions}, {"--provider", m.Providers},
	} {
		fmt.Fprintf(w, "\n%s\n", section.flag)
		for _, l := range section.of {
			fmt.Fprintf(w, "  %s\t%s\n", l.Name, l.About)
			if l.Default != "" {
				fmt.Fprintf(w, "  \t  default mix: %s\n", l.Default)
			}
		}
	}
	fmt.Fprintf(w, "\n--nemesis: magnitudes and options\n  1.5ttl, 1..2ttl, 90s, 200ms..2s\thow long (,1.5ttl) or how far (+90s); TTLs are those of the lease as granted\n  30%%\tshare of packets that are lost (loss), or of the processor that is left (slow)\n  1mbit\twhat a host sends at most (rate), from 8kbit to 20mbit\n  300ms±100ms\tfor how long packets are held (delay), from 1ms to 1m0s\n  slow=50ms\tby how much longer each request of a disk takes (disk), from 1ms to 1s\n  drift=5%%\thow much faster a clock runs\n  %s\n  There is no fault for memory pressure: the kernel chooses the victim, not the experiment. Use kill with a target.\n", strings.Join(nemesis.Options(), ", "))
	return w.Flush()
}

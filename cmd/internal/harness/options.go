package harness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/clusters"
)

// Options is what a user asks of a run: the values of Flags, which say what they may be.
type Options struct {
	Backend, Client, Workload, Nemesis, Guard string
	Resource                                  string // "": what the workload implies
	Where                                     Where
	Clients                                   int
	Keys                                      int
	Nodes                                     int // 0: the backend's default number
	TTL                                       time.Duration
	TimeLimit                                 time.Duration // 1 s to 24 h; the final phase comes on top
	ClientArgs                                []string      // of the client's image
	Until                                     string        // see UntilWords; "" for a load that lasts its time
	Seed                                      int64
	Set                                       map[string]string // server settings
	Out                                       string            // directory for run directories

	// Command makes the run once more; nil: lockcheck run with these options.
	Command []string
	// Expected is what a comparison expects of the run; its report says whether it came.
	Expected *history.Expected
	// Steps, if there are any, are those that the nemesis has to draw from the seed.
	Steps []string
}

// Check finds what cannot be before anything is started, and settles what follows from the rest (the provider, where only
// one understands an option).
func (o *Options) Check() error {
	if o.Backend == "" {
		return Usage(fmt.Errorf("--backend is missing; there are: %s", strings.Join(BackendNames(), ", ")))
	}
	for _, f := range Flags {
		if f.Rule.Check == nil {
			continue
		}
		for _, value := range f.Values(*o) {
			if err := f.Rule.Check("--"+f.Name, value); err != nil {
				return Usage(err)
			}
		}
	}
	if err := o.checkUntilResource(); err != nil {
		return Usage(err)
	}
	if err := o.checkClient(); err != nil {
		return Usage(err)
	}
	return o.place()
}

// checkUntilResource refuses to wait for what the resource rules out: it would never end the load.
func (o *Options) checkUntilResource() error {
	kind, _ := history.ResourceNamed(history.Resource(o.Resource))
	if kind.Compares == history.CompareBases && slices.Contains(UntilWords(o.Until), string(checker.StaleWrite)) {
		return fmt.Errorf("--until=%s: with --resource=%s, %s does not apply, so it would never end the run; %s does",
			o.Until, o.Resource, checker.StaleWrite, checker.LostUpdate)
	}
	return nil
}

// checkClient refuses two lock clients for one run, and what only one from an image has.
func (o *Options) checkClient() error {
	const flag = "--" + clusters.FlagClientImage
	switch {
	case o.Where.ClientImage != "" && o.Client != "":
		return fmt.Errorf("--client=%s and %s=%s are two lock clients: leave one of them out", o.Client, flag, o.Where.ClientImage)
	case o.Where.ClientImage == "" && len(o.ClientArgs) > 0:
		return fmt.Errorf("--client-arg=%s (or -- %s) is for the container of a lock client: name its image with %s",
			o.ClientArgs[0], strings.Join(o.ClientArgs, " "), flag)
	}
	return nil
}

// ReproduceCommand is the command that makes this run once more.
func (o Options) ReproduceCommand(lockClient string) []string {
	if o.Command != nil {
		return o.Command
	}
	if o.Where.ClientImage == "" {
		o.Client = lockClient
	}
	command := []string{"lockcheck", "run"}
	for _, f := range Flags {
		if f.Has(OfOutput) {
			continue
		}
		for _, value := range f.Values(o) {
			command = append(command, "--"+f.Name+"="+value)
		}
	}
	return command
}

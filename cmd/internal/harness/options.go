package harness

import (
	"fmt"
	"strings"
	"time"

	"lockcheck/checker/history"
	"lockcheck/clusters"
	"lockcheck/workloads"
)

// Options is what a user asks of a run: the values of Flags, which say what they may be.
type Options struct {
	Backend, Client, Workload, Nemesis, Guard string
	Resource                                  string // "": what the workload implies
	Where                                     Where
	Attach, AttachConfig                      string // "": lockcheck starts the servers
	MaxRate                                   int    // acquires a second; 0: the default for a service that others run
	Clients                                   int
	Keys                                      int
	Nodes                                     int           // 0: the backend's default number
	Slot                                      time.Duration // of workload jobs; 0: the default
	Execution                                 string        // of workload jobs; "": the default
	Work                                      string        // see history.ParseWork; "": the default
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
	// PlanFile is where Schedule was read from, which is then played in the place of what the seed draws; "" if the seed decides.
	PlanFile string
	Schedule []history.Round
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
	for _, check := range []func() error{o.checkWorkload, o.checkSlot, o.checkWork, o.checkUntil, o.checkAttach, o.checkClient} {
		if err := check(); err != nil {
			return Usage(err)
		}
	}
	return o.place()
}

// checkWorkload refuses what only another workload understands.
func (o *Options) checkWorkload() error {
	for _, f := range Flags {
		for _, value := range f.Values(*o) {
			if f.Workload != "" && f.Workload != o.Workload {
				return fmt.Errorf("--%s=%s: only workload %s understands it, and this is %s: add --workload=%s, or leave it out", f.Name, value, f.Workload, o.Workload, f.Workload)
			}
		}
	}
	return nil
}

// work is how long holders work; nil where nothing is said.
func (o *Options) work() *history.Work {
	if o.Work == "" {
		return nil
	}
	work, _ := history.ParseWork(o.Work) // checked with the flags
	return &work
}

// checkWork refuses long holds where a hold lasts as long as its job, and where the load is too short for one.
func (o *Options) checkWork() error {
	work := o.work()
	switch {
	case work == nil || !work.Long:
	case o.Workload == workloads.Jobs:
		return fmt.Errorf("--work=%s: workload %s has no long holds: leave out ,%s", o.Work, workloads.Jobs, history.LongWork)
	case o.TimeLimit < leastLeases*o.TTL:
		return fmt.Errorf("--work=%s: a load of %v is too short for a hold beyond a lease of %v: use --time-limit=%v or longer", o.Work, o.TimeLimit, o.TTL, leastLeases*o.TTL)
	}
	return nil
}

// leastLeases is how many leases a load with long holds lasts at least: it has to be seen first that clients renew.
const leastLeases = 5

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

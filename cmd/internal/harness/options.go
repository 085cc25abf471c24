package harness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockcheck/checker"
	"lockcheck/checker/history"
	"lockcheck/checker/model"
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

// work is how long holders work and what clients are asked to do beside; nil of jobs of which nothing is said.
func (o *Options) work() *history.Work {
	if o.Work != "" {
		work, _ := history.ParseWork(o.Work) // checked with the flags
		return &work
	}
	if o.Workload == workloads.Jobs {
		return nil
	}
	work := history.DefaultWork
	work.Tries, work.GivenUp = true, true
	least := leastLeases * o.TTL
	if o.Nemesis != history.NoNemesis { // each kill costs a lease, and perhaps an election
		least *= 2
	}
	work.Long = history.LeasesHold(o.Nemesis) && o.TimeLimit >= least
	work.IfRenewed = work.Long // a lock client that renews no leases passes without
	return &work
}

// checkWork refuses long holds where a hold lasts as long as its job, and where the load is too short for one.
func (o *Options) checkWork() error {
	work := o.work()
	switch {
	case o.Work == "" || o.Workload != workloads.Jobs && !work.Long:
	case o.Workload == workloads.Jobs && work.Words() != nil:
		return fmt.Errorf("--work=%s: in workload %s a hold lasts as long as its job, and all acquires wait: leave out ,%s", o.Work, workloads.Jobs, strings.Join(work.Words(), ","))
	case o.Workload == workloads.Jobs:
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

// defaultSlot and minSlot are of --slot. A slot is shorter than the work of some jobs already; one much shorter would only say more
// often that they are behind.
const (
	defaultSlot = 500 * time.Millisecond
	minSlot     = 50 * time.Millisecond
)

// schedule is that of the jobs of a run; zeros where its workload has none.
func (o *Options) schedule() (slotMS int64, execution history.Execution) {
	if o.Workload != workloads.Jobs {
		return 0, ""
	}
	return cmp.Or(o.Slot, defaultSlot).Milliseconds(), history.Execution(cmp.Or(o.Execution, history.ExecutionNames()[0]))
}

// checkSlot refuses a schedule of which fewer than two slots would be due.
func (o *Options) checkSlot() error {
	slotMS, _ := o.schedule()
	if slot := time.Duration(slotMS) * time.Millisecond; 2*slot >= o.TimeLimit {
		return fmt.Errorf("--slot=%v: within --time-limit=%v fewer than two slots would be due: use a shorter slot, or a longer time limit", slot, o.TimeLimit)
	}
	return nil
}

// UntilWords takes a value of --until apart; none for "".
func UntilWords(value string) []string {
	if value == "" {
		return nil
	}
	return strings.Split(value, ",")
}

// FoundEarly are the names of the properties that --until can name.
func FoundEarly() (names []string) {
	for _, name := range checker.FoundEarly() {
		names = append(names, string(name))
	}
	return names
}

// untilFound is the rule of --until: what can never be found while a run goes on would never end it.
var untilFound = Rule{Check: checkUntil, Schema: map[string]any{"type": "string", "pattern": untilPattern()}}

func untilPattern() string {
	property := "(" + strings.Join(FoundEarly(), "|") + ")"
	return "^(" + history.UntilViolation + "|" + history.UntilExposed + "|" + property + "(," + property + ")*)$"
}

func checkUntil(name, value string) error {
	words := UntilWords(value)
	for i, word := range words {
		switch {
		case word == history.UntilViolation && len(words) > 1:
			return fmt.Errorf("%s=%s: %q stands for any property; use it alone, or name properties", name, value, word)
		case word == history.UntilExposed && len(words) > 1:
			return fmt.Errorf("%s=%s: %q stands for all that the run requires, violated or not; use it alone, or name properties", name, value, word)
		case slices.Contains(words[:i], word):
			return fmt.Errorf("%s=%s names %q twice", name, value, word)
		case word == history.UntilViolation || word == history.UntilExposed || slices.Contains(FoundEarly(), word):
		case slices.Contains(checker.Names(), model.Name(word)):
			return fmt.Errorf("%s=%s: %s is known only at the end of a run; it can end early for: %s", name, value, word, strings.Join(FoundEarly(), ", "))
		default:
			return fmt.Errorf("%s: there is no property %q%s; a run can end early for: %s, %s, %s", name, word, history.Meant("", word, FoundEarly()), history.UntilViolation, history.UntilExposed, strings.Join(FoundEarly(), ", "))
		}
	}
	return nil
}

// ofTheLog are the properties that only the resource's log shows.
var ofTheLog = []model.Name{model.StaleWrite, model.LostUpdate, model.DoubleExecution}

// checkUntil refuses to wait for what the resource or the workload rules out: it would never end the load.
func (o *Options) checkUntil() error {
	if o.Until == history.UntilExposed && isTested(o.Resource) {
		return fmt.Errorf("--until=%s: the log of a resource under test (--resource=%s) is read when the load is over, and which writes it handled is not known before, so it would never end the run; leave it out",
			o.Until, o.Resource)
	}
	kind, _ := history.ResourceNamed(history.Resource(o.Resource))
	_, execution := o.schedule()
	words, _ := history.ExecutionNamed(execution)
	for _, rule := range []struct {
		names    []model.Name
		ruledOut bool
		why      string // before the property's name
		instead  string // after "so it would never end the run"
	}{
		{[]model.Name{model.DoubleExecution}, o.Workload != workloads.Jobs, "without --workload=" + workloads.Jobs + ", %s does not apply", "add --workload=" + workloads.Jobs},
		{ofTheLog, isTested(o.Resource), "the log of a resource under test (--resource=" + o.Resource + ") is read when the load is over, and %s is not known before",
			string(model.MutualExclusion) + " and " + string(model.ResourceLinearizability) + " are"},
		{[]model.Name{model.StaleWrite}, kind.Compares == history.CompareBases, "with --resource=" + o.Resource + ", %s does not apply", string(model.LostUpdate) + " does"},
		{[]model.Name{model.StaleWrite}, words.Keyed && kind.Compares == history.CompareNothing, "with --execution=" + string(execution) + ", %s does not apply",
			string(model.DoubleExecution) + " does"},
	} {
		for _, name := range rule.names {
			if rule.ruledOut && slices.Contains(UntilWords(o.Until), string(name)) {
				return fmt.Errorf("--until=%s: "+rule.why+", so it would never end the run; %s", o.Until, name, rule.instead)
			}
		}
	}
	return nil
}

// checkAttach refuses what has no meaning beside --attach, and what has none without it.
func (o *Options) checkAttach() error {
	if o.Attach == "" {
		for _, f := range []struct {
			name  string
			given bool
		}{{clusters.FlagAttachConfig, o.AttachConfig != ""}, {clusters.FlagMaxRate, o.MaxRate != 0}} {
			if f.given {
				return fmt.Errorf("--%s goes with --%s", f.name, clusters.FlagAttach)
			}
		}
		return nil
	}
	for _, f := range []struct {
		name  string
		given bool
	}{
		{clusters.FlagNodes, o.Nodes != 0}, {clusters.FlagServerBin, o.Where.ServerPaths.Bin != ""},
		{clusters.FlagServerJar, o.Where.ServerPaths.Jar != ""}, {clusters.FlagVersion, o.Where.ServerPaths.Version != ""}, {clusters.FlagImage, o.Where.Image != ""},
	} {
		if f.given {
			return fmt.Errorf("--%s is for servers that lockcheck starts, and with --%s others run them: leave out one of the two", f.name, clusters.FlagAttach)
		}
	}
	return nil
}

// place lets options that mean something to one provider only choose it where the choice is open, and refuses them where
// another was chosen: ignored, they would make a run of something else than was asked for.
func (o *Options) place() error {
	var because string
	for _, f := range Flags {
		switch {
		case !f.bound(*o):
		case o.Where.Provider == Auto:
			o.Where.Provider, because = f.Provider, "--"+f.Name+" asks for"
		case o.Where.Provider != f.Provider && because != "":
			return Usage(fmt.Errorf("%s %s, and --%s for %s: leave one of them out", because, chooses(o.Where.Provider), f.Name, chooses(f.Provider)))
		case o.Where.Provider != f.Provider:
			return Usage(fmt.Errorf("--%s is for %s, not for %s: %s, or use %s", f.Name, chooses(f.Provider), o.Where.Provider, f.Instead, chooses(f.Provider)))
		}
	}
	return nil
}

// chooses is what chooses a provider on the command line.
func chooses(provider string) string { return "--" + clusters.FlagProvider + "=" + provider }

// PlacesUnknownTo are the flags that name a place which that provider does not understand.
func PlacesUnknownTo(provider string) (flags []string) {
	for _, f := range Flags {
		if f.PlaceOfOneProvider() && f.Provider != provider {
			flags = append(flags, f.Name)
		}
	}
	return flags
}

// ReproduceCommand is the command that makes this run once more.
func (o Options) ReproduceCommand(lockClient string) []string {
	if o.Command != nil {
		return o.Command
	}
	if o.Where.ClientImage == "" {
		o.Client = lockClient
	}
	if work := o.work(); work != nil {
		o.Work = work.String() // another version's default may be another
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

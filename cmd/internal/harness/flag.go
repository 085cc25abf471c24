package harness

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"lockcheck/checker/history"
)

// Flag is all there is to say of one flag of lockcheck run. To add one is to add an entry to Flags (flagtable.go), a field of
// Options that holds its value, and the field of locktest.Plan of the same name. From the entry follow:
//
//	run, plan        declare it, check its value and refuse it beside another Provider
//	compare          hands it on to the runs it makes (InCompare)
//	lockcheck.yaml   may set it (InFile)
//	--replay         may have it beside it (BesideReplay), and drops it at a provider that does not know it
//	doctor           takes it, if it says where one provider finds something
//	plan.json        repeats it in the command that makes the run again
//	another workload refuses it, if it is one Workload's; compare leaves it out of the runs of others
//	locktest         takes its value from the field of a plan, and its errors name the field
type Flag struct {
	Name string
	Help string
	// At is where the options hold its value: a *string, *int, *int64, *time.Duration, *[]string or *map[string]string.
	At func(*Options) any
	// Default is its value where nothing else is said, of the type that At leads to. Nil is the zero of that type, which
	// then stands for "not given".
	Default any
	// ZeroCounts says that zero is a value like any other, although Default is nil.
	ZeroCounts bool
	Where      Scope
	// Workload is the only one that understands it; "" if all do.
	Workload string
	// Rule refuses what its value cannot be, as far as that can be told from the value alone.
	Rule Rule
	// Provider is the only one that understands it, and Instead what to do at another; "" if all do.
	Provider, Instead string
	// If limits Provider to some of its values; nil is all.
	If func(value string) bool
}

// Scope is where a flag may stand beside run and plan.
type Scope uint8

// What a Scope is made of.
const (
	InFile       Scope = 1 << iota // lockcheck.yaml sets it for all runs, or for those of one of its backends
	InCompare                      // compare takes it for every run that it makes
	OfComparison                   // compare takes it, and it means the comparison as a whole
	BesideReplay                   // it changes where a run is made, not what it is
	OfOutput                       // it is no part of a plan: the run is the same without it
)

// Has reports whether a flag may stand in any of these places.
func (f Flag) Has(places Scope) bool { return f.Where&places != 0 }

// PlaceOfOneProvider reports whether the flag tells one provider where to find something.
func (f Flag) PlaceOfOneProvider() bool { return f.Provider != "" && f.Has(BesideReplay) }

// FlagNamed finds a flag of lockcheck run.
func FlagNamed(name string) (Flag, bool) {
	if i := slices.IndexFunc(Flags, func(f Flag) bool { return f.Name == name }); i >= 0 {
		return Flags[i], true
	}
	return Flag{}, false
}

// Default are the options that a run has where nothing else is said. The backend has none.
func Default() (o Options) {
	for _, f := range Flags {
		if f.Default != nil {
			reflect.ValueOf(f.At(&o)).Elem().Set(reflect.ValueOf(f.Default))
		}
	}
	return o
}

// Declare adds to a command those flags of lockcheck run that it takes. The options get the defaults of these.
func Declare(flags *pflag.FlagSet, o *Options, takes func(Flag) bool) {
	defaults := Default()
	for _, f := range Flags {
		if !takes(f) {
			continue
		}
		switch to := f.At(o).(type) {
		case *string:
			flags.StringVar(to, f.Name, *f.At(&defaults).(*string), f.Help)
		case *int:
			flags.IntVar(to, f.Name, *f.At(&defaults).(*int), f.Help)
		case *int64:
			flags.Int64Var(to, f.Name, *f.At(&defaults).(*int64), f.Help)
		case *time.Duration:
			flags.DurationVar(to, f.Name, *f.At(&defaults).(*time.Duration), f.Help)
		case *[]string:
			flags.StringArrayVar(to, f.Name, nil, f.Help) // whose empty default pflag leaves out only as []
		case *map[string]string:
			flags.StringToStringVar(to, f.Name, nil, f.Help)
			flags.Lookup(f.Name).DefValue = "" // pflag would show it as []
		default:
			panic(fmt.Sprintf("--%s: a value of type %T cannot be a flag", f.Name, to))
		}
	}
}

// CheckGiven refuses values that flags were given and cannot have. Options do not show those that are the same as leaving the flag
// out, such as --nodes=0.
func CheckGiven(given *pflag.FlagSet) error {
	for _, f := range Flags {
		flag := given.Lookup(f.Name)
		if f.Rule.Check == nil || flag == nil || !flag.Changed {
			continue
		}
		if err := f.Rule.Check("--"+f.Name, flag.Value.String()); err != nil {
			return Usage(err)
		}
	}
	return nil
}

// Values are what a command line would say to give the flag its value, once for each time it would have to be given: none if
// it would be left out.
func (f Flag) Values(o Options) []string {
	at := f.At(&o)
	if reflect.ValueOf(at).Elem().IsZero() && f.Default == nil && !f.ZeroCounts {
		return nil
	}
	switch value := at.(type) {
	case *string:
		return []string{*value}
	case *int:
		return []string{strconv.Itoa(*value)}
	case *int64:
		return []string{strconv.FormatInt(*value, 10)}
	case *time.Duration:
		return []string{value.String()}
	case *[]string:
		return *value
	case *map[string]string:
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(*value)) {
			pairs = append(pairs, name+"="+(*value)[name])
		}
		return pairs
	}
	panic(fmt.Sprintf("--%s: a value of type %T cannot be a flag", f.Name, at))
}

// IsPairs reports whether its values are pairs, NAME=VALUE.
func (f Flag) IsPairs() bool {
	_, pairs := f.At(new(Options)).(*map[string]string)
	return pairs
}

// IsList reports whether it may be given several times, each time one value.
func (f Flag) IsList() bool {
	_, list := f.At(new(Options)).(*[]string)
	return list
}

// bound reports whether these options say something that only the flag's provider understands.
func (f Flag) bound(o Options) bool {
	return f.Provider != "" && slices.ContainsFunc(f.Values(o), func(value string) bool { return f.If == nil || f.If(value) })
}

// Rule says what the value of a flag can be; the zero Rule takes all.
type Rule struct {
	// Check says why a value cannot be; nil is fine. name is what the flag is called where the value stands: --clients on a
	// command line, clients in a file.
	Check func(name, value string) error
	// Words are all that it can be; nil if they cannot be listed.
	Words []string
	// Schema is what JSON Schema can say of such a value in a file.
	Schema map[string]any
}

// oneOf is a rule for a word of a table; what is what the table is of.
func oneOf(what string, table []string) Rule {
	check := func(name, value string) error {
		if !slices.Contains(table, value) {
			return fmt.Errorf("%s: %w", name, history.Unknown(what, value, table))
		}
		return nil
	}
	return Rule{check, table, map[string]any{"enum": table}}
}

// number is a rule for whole numbers, both ends included; why is said of one that is out of range, or "".
func number(from, to int, why string) Rule {
	if why != "" {
		why = "; " + why
	}
	check := func(name, value string) error {
		n, err := strconv.Atoi(value)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %q is no number from %d to %d", name, value, from, to)
		case n < from || n > to:
			return fmt.Errorf("%s=%s: use %d to %d%s", name, value, from, to, why)
		}
		return nil
	}
	// A file may have it in quotes.
	return Rule{check, nil, map[string]any{"type": []string{"integer", "string"}, "minimum": from, "maximum": to, "pattern": "^[+]?[0-9]+$"}}
}

// span is a rule for lengths of time, both ends included.
func span(shortest, longest time.Duration) Rule {
	from, to := brief(shortest), brief(longest)
	check := func(name, value string) error {
		d, err := time.ParseDuration(value)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %q is no length of time from %s to %s, such as 30s", name, value, from, to)
		case d < shortest || d > longest:
			return fmt.Errorf("%s=%s: use %s to %s", name, value, from, to)
		}
		return nil
	}
	return Rule{check, nil, map[string]any{"type": "string", "pattern": durationPattern, "examples": []string{"2s", "500ms", "1m30s"}}}
}

const versionPattern = `^[0-9]+([.][0-9A-Za-z+-]+)*$`

// versionRule is a rule for versions of servers.
var versionRule = Rule{Check: func(name, value string) error {
	if !versionForm.MatchString(value) {
		return fmt.Errorf("%s=%s: use a version, such as 3.4.23, or what it begins with, such as 3.4", name, value)
	}
	return nil
}, Schema: map[string]any{"type": []string{"string", "number"}, "pattern": versionPattern}}

var versionForm = regexp.MustCompile(versionPattern)

// workRule is a rule for how long holders work.
var workRule = Rule{Check: func(name, value string) error {
	if _, err := history.ParseWork(value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}, Schema: map[string]any{"type": "string", "examples": []string{history.DefaultWork.String()}}}

// durationPattern has all that time.ParseDuration takes, but for what is not above zero.
const durationPattern = `^[+]?(([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`

// brief is a length of time without the zeros at its end: 24h, not 24h0m0s.
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

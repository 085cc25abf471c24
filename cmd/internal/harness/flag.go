package harness

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// Flag is all there is to say of one flag of lockcheck run. To add one is to add an entry to Flags (flags.go), a field of
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

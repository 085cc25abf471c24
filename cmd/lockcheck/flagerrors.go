package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockcheck/checker/history"
	"lockcheck/cmd/internal/harness"
)

// flagError says in plain words what is wrong with the flags of a command: pflag quotes the library that could not read a value.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		err = unknownFlag(cmd, unknown.GetSpecifiedName())
	case errors.As(err, &invalid):
		err = invalidValue(invalid)
	}
	return harness.Usage(fmt.Errorf("%w\nTry: %s --help", err, cmd.CommandPath()))
}

// unknownFlag names the flag of the command that was probably meant.
func unknownFlag(cmd *cobra.Command, name string) error {
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, flag.Name)
		}
	})
	return fmt.Errorf("unknown flag: --%s%s", name, history.Meant("--", name, names))
}

// kinds says what the value of a flag of each of pflag's types is.
var kinds = map[string]string{
	"int":            "whole number, such as 7",
	"int64":          "whole number, such as 7",
	"duration":       "length of time, such as 30s",
	"bool":           "yes or no: leave the value out, or say true or false",
	"stringToString": "pair: use key=value",
	"stringSlice":    "list of names joined by commas",
}

// invalidValue says why a value cannot be that of its flag.
func invalidValue(invalid *pflag.InvalidValueError) error {
	name, value := invalid.GetFlag().Name, invalid.GetValue()
	if flag, ok := harness.FlagNamed(name); ok && flag.Rule.Check != nil {
		if err := flag.Rule.Check("--"+name, value); err != nil {
			return err
		}
	}
	kind, ok := kinds[invalid.GetFlag().Value.Type()]
	switch {
	case errors.Is(invalid, strconv.ErrRange):
		return fmt.Errorf("--%s: %s is further from zero than any number it can be", name, value)
	case ok:
		return fmt.Errorf("--%s: %q is no %s", name, value, kind)
	}
	return invalid
}

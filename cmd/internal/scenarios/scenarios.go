// Package scenarios has the known failures of locks that lockcheck gallery runs, one file each in files/. README.md says how to add one.
package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"lockcheck/checker/history"
	"lockcheck/reports/compare/config"
)

//go:embed files/*.yaml
var files embed.FS

// Names are those of all scenarios, sorted.
func Names() (names []string) {
	entries, _ := fs.ReadDir(files, "files") // it is embedded, so that it cannot fail
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	slices.Sort(names) // by name, where files are in the order of name.yaml
	return names
}

// Text is the file of a scenario; "" if there is none of that name.
func Text(name string) string {
	text, err := files.ReadFile(path.Join("files", name+".yaml"))
	if err != nil {
		return ""
	}
	return string(text)
}

// Named reads a scenario.
func Named(name string, known config.Known) (config.Scenario, error) {
	if !slices.Contains(Names(), name) {
		return config.Scenario{}, unknown(name)
	}
	return config.ParseScenario(name+".yaml", name, []byte(Text(name)), known)
}

// unknown is the error about a name that no scenario has. Where the name, or the nearest one, is that of a known failure without a scenario,
// it says why there is none.
func unknown(name string) error {
	names := Names()
	for _, w := range Without {
		names = append(names, w.Name)
	}
	nearest := history.Nearest(name, names)
	for _, w := range Without {
		switch w.Name {
		case name:
			return fmt.Errorf("the known failure %s has no scenario: %s", name, w.Reason)
		case nearest:
			return fmt.Errorf("there is no scenario %q (did you mean %s?), and the known failure %s has none: %s", name, nearest, nearest, w.Reason)
		}
	}
	return history.Unknown("scenario", name, Names())
}

// All reads all scenarios, sorted by their names.
func All(known config.Known) (all []config.Scenario, err error) {
	var errs []error
	for _, name := range Names() {
		s, err := Named(name, known)
		all, errs = append(all, s), append(errs, err)
	}
	return all, errors.Join(errs...)
}

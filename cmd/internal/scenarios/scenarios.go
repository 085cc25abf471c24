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
		for _, w := range Without {
			if w.Name == name {
				return config.Scenario{}, fmt.Errorf("the known failure %s has no scenario: %s", name, w.Reason)
			}
		}
		return config.Scenario{}, history.Unknown("scenario", name, Names())
	}
	return config.ParseScenario(name+".yaml", name, []byte(Text(name)), known)
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

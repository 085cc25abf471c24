// Package arrows reads which folders of this module import which, and finds an arrow that points up, or from the program to
// what is for tests only.
package arrows

import (
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// module is the path that the project's own imports begin with.
const module = "lockcheck/"

// below is what each folder at the top may import of the others: an arrow only ever points to the right in
//
//	cmd → workloads, reports → nemesis → clusters → checker
var below = map[string][]string{
	"cmd":       {"workloads", "reports", "nemesis", "clusters", "checker"},
	"workloads": {"nemesis", "clusters", "checker"},
	"reports":   {"nemesis", "clusters", "checker"},
	"nemesis":   {"clusters", "checker"},
	"clusters":  {"checker"},
	"checker":   nil,
}

// neighbours is what a room may import of the others beside it: all of its files, and its tests besides. A room is a folder with all that is
// below it, but for rooms inside.
type neighbours struct{ all, tests []string }

// inside is the same of the rooms inside checker, clusters, reports and workloads. DIR/* stands for each folder in DIR that has no line of its own.
//
//	checker → property → explain ┐
//	        → figures            ┴→ model → history
//
//	backend/*       ┐
//	provider/local  ┼→ clusters → client → resource
//	provider/docker ┘
//
// Servers of some backends are resources under test, too. The leaves procs, disk and setting, and relay, which providers share, are left out
// of the drawing. Backends and providers know nothing of each other, and no backend of another.
var inside = map[string]neighbours{
	"checker": {
		all:   []string{"checker/property", "checker/explain", "checker/figures", "checker/model", "checker/history"},
		tests: []string{"checker/coverage", "checker/internal/search", "checker/internal/simulated", "checker/longrun", "checker/testkit"},
	},
	"checker/property": {
		all:   []string{"checker/explain", "checker/model", "checker/history", "checker/internal/search"},
		tests: []string{"checker/internal/simulated", "checker/testkit"},
	},
	"checker/explain":  {all: []string{"checker/model", "checker/history"}},
	"checker/figures":  {all: []string{"checker/model", "checker/history"}},
	"checker/coverage": {all: []string{"checker/model", "checker/history"}},
	"checker/model":    {all: []string{"checker/history"}, tests: []string{"checker/longrun", "checker/testkit"}},
	"checker/foreign":  {all: []string{"checker/history"}},
	"checker/history":  {tests: []string{"checker/longrun"}}, // itself a leaf
	"checker/longrun":  {all: []string{"checker/history"}},
	"checker/testkit":  {all: []string{"checker/internal/simulated", "checker/history"}},
	// Porcupine, bounded; a leaf.
	"checker/internal/search":    {},
	"checker/internal/simulated": {all: []string{"checker/history", "checker/testkit/virtualtime"}},
	// The time of simulated locks; a leaf.
	"checker/testkit/virtualtime": {},

	"clusters":                 {all: []string{"clusters/client", "clusters/provider/procs", "clusters/provider/disk"}},
	"clusters/client":          {all: []string{"clusters/resource"}, tests: []string{"clusters/testkit/needs", "clusters/testkit/wire"}}, // itself a leaf
	"clusters/resource":        {tests: []string{"clusters/testkit/wire"}},
	"clusters/provider/procs":  {tests: []string{"clusters/testkit/needs"}}, // itself a leaf
	"clusters/provider/disk":   {},
	"clusters/setting":         {},
	"clusters/provider/relay":  {all: []string{"clusters"}},
	"clusters/provider/local":  {all: ofProviders, tests: []string{"clusters/testkit", "clusters/testkit/needs"}},
	"clusters/provider/docker": {all: ofProviders, tests: []string{"clusters/testkit", "clusters/testkit/needs"}},
	"clusters/backend/*":       {all: ofBackends, tests: ofTheirTests},
	// An exception: Redlock is several Redis servers, the same record on each. Primaries and Sentinels, which the backend redis
	// itself is about, are none of its business.
	"clusters/backend/redlock": {
		all:   slices.Concat(ofBackends, []string{"clusters/backend/redis/server", "clusters/backend/redis/record"}),
		tests: ofTheirTests,
	},
	// Another: Kubernetes keeps its data in etcd, whose members are started and asked as the backend etcd does.
	"clusters/backend/kubernetes": {all: slices.Concat(ofBackends, []string{"clusters/backend/etcd/server"}), tests: ofTheirTests},
	// For tests: the hosts of a provider; what tests of several backends share, and those of lock clients.
	"clusters/testkit":           {all: []string{"clusters", "clusters/testkit/needs"}},
	"clusters/testkit/needs":     {},
	"clusters/testkit/wire":      {},
	"clusters/testkit/clientkit": {all: []string{"clusters/client", "clusters/testkit/wire"}},
	"clusters/testkit/backends":  {all: slices.Concat(ofBackends, ofTheirTests)},

	"reports/bundle":   {all: []string{"reports/rundir"}},
	"reports/compare":  {all: []string{"reports/junit", "reports/rate", "reports/terminal", "reports/words", "reports/rundir"}},
	"reports/gallery":  {all: []string{"reports/compare", "reports/rate", "reports/terminal", "reports/words", "reports/rundir"}},
	"reports/hunts":    {all: []string{"reports/compare", "reports/junit", "reports/svg", "reports/words", "reports/rundir"}},
	"reports/index":    {all: []string{"reports/compare", "reports/hunts", "reports/words", "reports/rundir"}},
	"reports/junit":    {all: []string{"reports/words"}},
	"reports/page":     {all: []string{"reports/svg", "reports/words", "reports/rundir"}},
	"reports/svg":      {all: []string{"reports/words", "reports/rundir"}},
	"reports/tidy":     {all: []string{"reports/compare", "reports/hunts", "reports/rundir"}},
	"reports/terminal": {all: []string{"reports/svg", "reports/words", "reports/rundir"}},
	"reports/words":    {all: []string{"reports/rundir"}},
	"reports/rundir":   {},
	// Arithmetic; a leaf.
	"reports/rate": {},

	// What clients do, and what faults do, know nothing of the engine that puts them together.
	"workloads":         {all: []string{"workloads/driver"}},
	"workloads/driver":  {},
	"workloads/targets": {},
	"workloads/run":     {all: []string{"workloads", "workloads/driver", "workloads/targets"}},
}

var (
	ofProviders = []string{"clusters", "clusters/provider/procs", "clusters/provider/disk", "clusters/provider/relay"}
	ofBackends  = []string{"clusters", "clusters/client", "clusters/resource", "clusters/setting"}
	// Tests of backends start servers, at the provider that needs nothing but Linux.
	ofTheirTests = []string{"clusters/provider/local", "clusters/testkit", "clusters/testkit/backends", "clusters/testkit/clientkit", "clusters/testkit/needs", "clusters/testkit/wire"}
)

// forTests are the folders that only tests may import, and each other.
var forTests = []string{
	"checker/internal/simulated", "checker/longrun", "checker/testkit",
	"clusters/testkit", "cmd/internal/hunt/chance", "cmd/internal/hunt/smallworld", "cmd/internal/testkit", "nemesis/testkit", "reports/testkit",
}

// Up are the imports that point up, or from what is no test to what is for tests only, of all Go files below root, tests and
// files of every build tag included: where the import stands, and the first file of what it imports.
func Up(root string) (wrong []string, err error) {
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".")):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		found, err := upIn(root, name)
		wrong = append(wrong, found...)
		return err
	})
	return wrong, err
}

func upIn(root, name string) (wrong []string, err error) {
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return nil, err
	}
	dir := path.Dir(filepath.ToSlash(rel))
	test := strings.HasSuffix(rel, "_test.go") || isForTests(dir)
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, nil, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		folder, own := strings.CutPrefix(imported, module)
		if !own {
			continue
		}
		arrow := fmt.Sprintf("%s:%d imports %s", rel, files.Position(spec.Pos()).Line, firstFile(root, folder))
		if from, may, up := pointsUp(dir, folder, test); up {
			wrong = append(wrong, fmt.Sprintf("%s, which points up: %s may import of the others only: %s", arrow, from, cmp.Or(strings.Join(may, ", "), "none")))
		}
		if isForTests(folder) && !test {
			wrong = append(wrong, arrow+", which is for tests only")
		}
	}
	return wrong, nil
}

// pointsUp reports whether what is in one folder may not import what is in another, and what it may.
func pointsUp(dir, folder string, test bool) (from string, may []string, up bool) {
	from, _, _ = strings.Cut(dir, "/")
	to, _, _ := strings.Cut(folder, "/")
	if from != to {
		return from, below[from], !slices.Contains(below[from], to)
	}
	from, row := room(dir)
	to, _ = room(folder)
	if from == "" || to == "" || from == to {
		return from, nil, false
	}
	may = row.all
	if test {
		may = slices.Concat(row.all, row.tests)
	}
	return from, may, !slices.Contains(may, to) && !slices.Contains(may, folder)
}

// room finds the room that a folder is in, and its line in the table; there is none for what stands at the top.
func room(folder string) (name string, row neighbours) {
	for ; folder != "."; folder = path.Dir(folder) {
		for _, line := range []string{folder, path.Dir(folder) + "/*"} {
			if row, known := inside[line]; known {
				return folder, row
			}
		}
	}
	return "", neighbours{}
}

// isForTests reports whether only tests may import a folder.
func isForTests(folder string) bool {
	return slices.ContainsFunc(forTests, func(of string) bool { return folder == of || strings.HasPrefix(folder, of+"/") })
}

// firstFile names the file by which a reader gets to know a package: the one that is called as its folder is, or the first.
func firstFile(root, folder string) string {
	named := path.Join(folder, path.Base(folder)+".go")
	if _, err := os.Stat(filepath.Join(root, named)); err == nil {
		return named
	}
	if all, _ := filepath.Glob(filepath.Join(root, folder, "*.go")); len(all) > 0 {
		return path.Join(folder, filepath.Base(all[0]))
	}
	return folder
}

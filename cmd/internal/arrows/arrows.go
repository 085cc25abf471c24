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

// neighbours is what one folder may import of those beside it: all of its files, and its tests besides. A path of two names
// stands for all that is below it, too; any other for that one folder.
type neighbours struct{ all, tests []string }

// inside is the same of the folders inside clusters and reports.
//
//	backends  ┐
//	providers ┴→ clusters → client → resource
//
// Servers of some backends are resources under test, too. The leaves procs, disk and setting, and relay, which providers share, are left out of the drawing. Backends and providers know nothing of each other, and no backend
// of another. A folder of clusters without a line of its own is a backend, so that one that is added needs none.
var inside = map[string]neighbours{
	"clusters":          {all: []string{"clusters/client", "clusters/procs", "clusters/disk"}},
	"clusters/client":   {all: []string{"clusters/resource"}, tests: []string{"clusters/hosttest/freeport"}}, // itself a leaf
	"clusters/resource": {},
	"clusters/procs":    {tests: []string{"clusters/hosttest/missing"}}, // itself a leaf
	"clusters/disk":     {},
	"clusters/setting":  {},
	"clusters/relay":    {all: []string{"clusters"}},
	"clusters/local":    {all: ofProviders, tests: []string{"clusters/hosttest"}},
	"clusters/docker":   {all: ofProviders, tests: []string{"clusters/hosttest"}},
	"clusters/*":        {all: ofBackends, tests: ofTheirTests},
	// An exception: Redlock is several Redis servers, the same record on each. Primaries and Sentinels, which the backend redis
	// itself is about, are none of its business.
	"clusters/redlock": {
		all:   slices.Concat(ofBackends, []string{"clusters/redis/server", "clusters/redis/record"}),
		tests: ofTheirTests,
	},
	// Another: Kubernetes keeps its data in etcd, whose members are started and asked as the backend etcd does.
	"clusters/kubernetes": {all: slices.Concat(ofBackends, []string{"clusters/etcd/server"}), tests: ofTheirTests},
	// For tests: the hosts of a provider; what tests of several backends share.
	"clusters/hosttest": {all: []string{"clusters"}},
	"clusters/internal": {all: slices.Concat(ofBackends, ofTheirTests)},

	"reports/compare":  {all: []string{"reports/terminal", "reports/words", "reports/rundir"}},
	"reports/gallery":  {all: []string{"reports/compare", "reports/terminal", "reports/words", "reports/rundir"}},
	"reports/index":    {all: []string{"reports/compare", "reports/words", "reports/rundir"}},
	"reports/page":     {all: []string{"reports/svg", "reports/words", "reports/rundir"}},
	"reports/svg":      {all: []string{"reports/words", "reports/rundir"}},
	"reports/tidy":     {all: []string{"reports/compare", "reports/rundir"}},
	"reports/terminal": {all: []string{"reports/words", "reports/rundir"}},
	"reports/words":    {all: []string{"reports/rundir"}},
	"reports/rundir":   {},
}

var (
	ofProviders = []string{"clusters", "clusters/procs", "clusters/disk", "clusters/relay"}
	ofBackends  = []string{"clusters", "clusters/client", "clusters/resource", "clusters/setting"}
	// Tests of backends start servers, at the provider that needs nothing but Linux.
	ofTheirTests = []string{"clusters/local", "clusters/hosttest", "clusters/internal"}
)

// forTests are the folders that only tests may import, and each other.
var forTests = []string{
	"checker/internal/simulated", "checker/longrun",
	"clusters/client/clienttest", "clusters/hosttest", "clusters/internal", "clusters/local/localtest",
	"cmd/internal/disktest",
	"nemesis/clocktest",
	"reports/browsertest", "reports/internal", "reports/terminal/terminaltest",
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
	from, to := first(1, dir), first(1, folder)
	if from != to {
		return from, below[from], !slices.Contains(below[from], to)
	}
	from, to = first(2, dir), first(2, folder)
	row, known := rowOf(from)
	if _, placed := rowOf(to); !known || !placed || from == to {
		return from, nil, false
	}
	may = row.all
	if test {
		may = slices.Concat(row.all, row.tests)
	}
	return from, may, !slices.Contains(may, to) && !slices.Contains(may, folder)
}

// rowOf finds the line of a folder in the table of those inside another; there may be one for all that have none.
func rowOf(folder string) (row neighbours, known bool) {
	if row, known = inside[folder]; !known {
		row, known = inside[path.Dir(folder)+"/*"]
	}
	return row, known
}

// isForTests reports whether only tests may import a folder.
func isForTests(folder string) bool {
	return slices.ContainsFunc(forTests, func(of string) bool { return folder == of || strings.HasPrefix(folder, of+"/") })
}

// first is a folder's path up to a number of names.
func first(names int, folder string) string {
	all := strings.Split(folder, "/")
	return strings.Join(all[:min(names, len(all))], "/")
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

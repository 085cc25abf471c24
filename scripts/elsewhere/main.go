// Command elsewhere checks that everything, tests included, is valid Go for the systems that no test runs on, and holds it
// against those checks of go vet that look at one package at a time. It reads dependencies as source: go vet compiles them,
// which takes four to five minutes of processor time for each system where the build cache is empty. This takes some 15 s.
//
//	go run ./scripts/elsewhere
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/buildtag"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/ifaceassert"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/structtag"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/packages"
)

// systems are those that lockcheck is built for, beside the one at hand.
var systems = []struct{ os, arch string }{{"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

var checks = []*analysis.Analyzer{
	assign.Analyzer, atomic.Analyzer, bools.Analyzer, buildtag.Analyzer, copylock.Analyzer, directive.Analyzer, errorsas.Analyzer,
	ifaceassert.Analyzer, nilfunc.Analyzer, shift.Analyzer, sigchanyzer.Analyzer, stringintconv.Analyzer, structtag.Analyzer,
	unreachable.Analyzer, unsafeptr.Analyzer, unusedresult.Analyzer,
}

func main() {
	debug.SetGCPercent(400) // what is loaded stays: collecting took a third of the processor
	failed := false
	for _, s := range systems {
		began := time.Now()
		found, err := check(s.os, s.arch)
		if err != nil {
			fmt.Fprintf(os.Stderr, "elsewhere: %s/%s: %v\n", s.os, s.arch, err)
		}
		fmt.Printf("%s/%s: %d mistakes (%.0f s)\n", s.os, s.arch, found, time.Since(began).Seconds())
		failed = failed || found > 0 || err != nil
	}
	if failed {
		os.Exit(1)
	}
}

// check prints the mistakes that a system's compiler would find, else those that vet would, and counts them.
func check(system, arch string) (found int, err error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax, Tests: true, Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch),
	}, "./...")
	if err != nil {
		return 0, err
	}
	if found = packages.PrintErrors(loaded); found > 0 {
		return found, nil
	}
	graph, err := checker.Analyze(checks, loaded, nil)
	if err != nil {
		return 0, err
	}
	for action := range graph.All() {
		if !action.IsRoot {
			continue
		}
		if action.Err != nil {
			return found, action.Err
		}
		for _, d := range action.Diagnostics {
			fmt.Fprintf(os.Stderr, "%s: %s (%s)\n", action.Package.Fset.Position(d.Pos), d.Message, action.Analyzer.Name)
			found++
		}
	}
	return found, nil
}

// Command summary lists the slowest tests of scripts/test, and those that were skipped or failed, from the events that `go test -json`
// left in a directory. With -servers it reads `lockcheck doctor --json` and prints the backends whose server this machine has; a second line
// has those whose server it lacks.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

func main() {
	servers := flag.Bool("servers", false, "print the backends that doctor, on standard input, found a server of")
	notes := flag.String("notes", "", "a file with a line for each thing that was skipped beside the tests")
	flag.Parse()
	var err error
	if *servers {
		err = printServers(os.Stdin, os.Stdout)
	} else {
		err = summarize(flag.Arg(0), *notes, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(1)
	}
}

func printServers(doctor io.Reader, out io.Writer) error {
	var found []struct {
		Name string
		OK   bool
	}
	if err := json.NewDecoder(doctor).Decode(&found); err != nil {
		return fmt.Errorf("reading doctor's list: %w", err)
	}
	missing := map[string]bool{}
	var backends []string
	for _, each := range found {
		kind, backend, _ := strings.Cut(each.Name, " ")
		switch {
		case kind != "server" && kind != "client":
		case !each.OK:
			missing[backend] = true
		case kind == "server":
			backends = append(backends, backend)
		}
	}
	backends = slices.DeleteFunc(backends, func(b string) bool { return missing[b] })
	lines := strings.Join(backends, ",") + "\n"
	if len(missing) > 0 {
		lines += strings.Join(slices.Sorted(maps.Keys(missing)), ", ") + "\n"
	}
	_, err := io.WriteString(out, lines)
	return err
}

// event is one of `go test -json` (go doc test2json).
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64 // seconds
}

type took struct {
	name    string
	seconds float64
}

type results struct {
	packages, tests []took
	skipped, failed []string
	output          map[string][]string // of each test
}

func summarize(dir, notes string, out io.Writer) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	r := results{output: map[string][]string{}}
	for _, file := range files {
		written, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		step := strings.TrimSuffix(filepath.Base(file), ".json")
		for line := range bytes.Lines(written) {
			var e event
			if json.Unmarshal(line, &e) == nil { // an interrupted step leaves half a line
				r.add(step, e)
			}
		}
		r.abandoned(step)
	}
	if text, err := os.ReadFile(notes); err == nil {
		r.skipped = append(r.skipped, strings.Split(strings.TrimSpace(string(text)), "\n")...)
	} else if notes != "" && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	all := len(r.skipped)
	r.skipped = slices.DeleteFunc(r.skipped, func(line string) bool { return strings.Contains(line, "left to the soak") })
	slowest(out, "packages", r.packages)
	slowest(out, "tests", r.tests)
	list(out, "skipped", r.skipped)
	if left := all - len(r.skipped); left > 0 {
		fmt.Fprintf(out, "left to scripts/soak, because another test shows the same: %d\n", left)
	}
	list(out, "failed", r.failed)
	return nil
}

func (r *results) add(step string, e event) {
	name := step + ": " + strings.TrimPrefix(strings.TrimPrefix(e.Package+e.ImportPath, "lockcheck/"), "lockcheck")
	if e.Test != "" {
		name += " " + e.Test
	}
	switch e.Action {
	case "run":
		r.output[name] = []string{}
	case "output", "build-output":
		r.output[name] = append(r.output[name], e.Output)
	case "pass", "skip", "fail", "build-fail":
		said := told(r.output[name])
		delete(r.output, name)
		if e.Test != "" && !strings.Contains(e.Test, "/") {
			r.tests = append(r.tests, took{name, e.Elapsed})
		} else if e.Test == "" && e.Elapsed > 0 {
			r.packages = append(r.packages, took{name, e.Elapsed})
		}
		switch {
		case e.Action == "skip" && strings.Contains(said, ": a part of Test"): // another test runs it
		case e.Action == "skip" && e.Test != "":
			r.skipped = append(r.skipped, name+": "+said)
		case strings.HasSuffix(e.Action, "fail"):
			r.failed = append(r.failed, name+": "+said)
		}
	}
}

// abandoned adds the tests that a step began and that came to no end: they panicked, ran out of time or were interrupted.
func (r *results) abandoned(step string) {
	for name, lines := range r.output {
		if strings.HasPrefix(name, step+": ") && strings.Contains(name, " Test") {
			r.failed = append(r.failed, name+": did not end: "+told(lines))
		}
	}
	clear(r.output)
}

// told is the first line that a test wrote by itself, or what go test says of a package.
func told(lines []string) string {
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			return line
		}
	}
	return ""
}

func slowest(out io.Writer, what string, all []took) {
	if len(all) == 0 {
		return
	}
	sort.Slice(all, func(i, j int) bool { return all[i].seconds > all[j].seconds })
	fmt.Fprintf(out, "slowest %s\n", what)
	for _, each := range all[:min(10, len(all))] {
		fmt.Fprintf(out, "%8.1f s  %s\n", each.seconds, each.name)
	}
}

func list(out io.Writer, what string, lines []string) {
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if len(lines) == 0 {
		if what == "skipped" {
			fmt.Fprintln(out, "skipped: nothing")
		}
		return
	}
	fmt.Fprintf(out, "%s: %d\n", what, len(lines))
	for _, line := range lines {
		fmt.Fprintln(out, "  "+line)
	}
}

// Command evidence makes the hunts on real servers that scripts/hunts is for, one after the other, and prints a table of those that ended.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"lockcheck/reports/hunts"
)

// Unit is what is made in one go, and made anew if it was ended.
type Unit struct {
	Part string `json:"part"`
	Name string `json:"name"` // of a scenario or a control
	Arm  string `json:"arm,omitempty"`
	N    int    `json:"n,omitempty"` // of several of the same
}

// Line is what came of a unit.
type Line struct {
	Unit
	Found   bool     `json:"found,omitempty"`
	Seconds float64  `json:"seconds"` // until it was found, or until the end
	Runs    int      `json:"runs"`    // so many; of a control those that could tell something
	Why     string   `json:"why,omitempty"`
	Dir     string   `json:"dir,omitempty"`  // of the find that was found, in the folder of runs
	Else    []string `json:"else,omitempty"` // signatures of other finds; of a control all
	// Of a plan that was shrunk: its steps and those of the scenario, how often it was confirmed, and how often the find came before.
	Steps   int    `json:"steps,omitempty"`
	ByHand  int    `json:"by_hand,omitempty"`
	Confirm [2]int `json:"confirm,omitzero"`
	Before  [2]int `json:"before,omitzero"`
}

// plan is what all parts have in common.
type plan struct {
	program, file, folder string // lockcheck, the file of lines, and the folder of scenarios
	budget                time.Duration
	all                   map[string]scenario
}

func main() {
	var p plan
	flag.StringVar(&p.program, "program", "lockcheck", "lockcheck's program")
	flag.StringVar(&p.folder, "scenarios", "cmd/internal/scenarios/files", "the folder of scenarios")
	flag.DurationVar(&p.budget, "budget", 10*time.Minute, "of each hunt")
	dry := flag.Bool("dry", false, "list what is left")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if flag.NArg() != 2 || parts[flag.Arg(0)] == nil {
		fmt.Fprintln(os.Stderr, "usage: scripts/hunts blind|shrink|controls|tier2 [-dry] [--budget=10m] FILE")
		os.Exit(64)
	}
	p.file = flag.Arg(1)
	if err := p.run(ctx, flag.Arg(0), *dry, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "hunts:", err)
		os.Exit(1)
	}
}

// part is a kind of evidence.
type part struct {
	left  func(p *plan, done []Line) []Unit // that are to be made, as far as that is known
	args  func(p *plan, u Unit, done []Line) []string
	learn func(p *plan, m *made, l *Line)
	table func(p *plan, done []Line, out io.Writer)
}

// run makes the units that the file does not have, and then prints the table.
func (p *plan) run(ctx context.Context, name string, dry bool, out io.Writer) (err error) {
	if p.all, err = readScenarios(p.folder); err != nil {
		return err
	}
	lines, err := readLines(p.file)
	if err != nil {
		return err
	}
	of := parts[name]
	for ctx.Err() == nil {
		done := slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return l.Part != name })
		left := of.left(p, lines)
		if dry {
			for _, u := range left {
				fmt.Fprintf(out, "%s: lockcheck %s\n", u, strings.Join(of.args(p, u, lines), " "))
			}
		}
		if dry || len(left) == 0 {
			of.table(p, done, out)
			return nil
		}
		u := left[0]
		fmt.Fprintf(os.Stderr, "%s, %d left\n", u, len(left))
		l, err := p.make(ctx, of, u, lines)
		if ctx.Err() != nil {
			break
		}
		if err == nil {
			err = appendLine(p.file, l)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", u, err)
		}
		lines = append(lines, l)
	}
	of.table(p, slices.DeleteFunc(lines, func(l Line) bool { return l.Part != name }), out)
	return nil
}

func (u Unit) String() string {
	text := u.Part + " " + u.Name
	if u.Arm != "" {
		text += ", " + u.Arm
	}
	if u.N > 0 {
		text += " " + strconv.Itoa(u.N)
	}
	return text
}

// made is what is known of a unit that ended.
type made struct {
	dir            string
	stdout, stderr string
	record         hunts.Record // of a hunt
}

// runs is the folder beside the file that has the runs.
func (p *plan) runs() string { return p.file + ".d" }

// make makes a unit. A hunt ends as soon as it has found what is looked for.
func (p *plan) make(ctx context.Context, of *part, u Unit, done []Line) (Line, error) {
	m := made{dir: filepath.Join(p.runs(), strings.NewReplacer(" ", "-", ",", "").Replace(u.String()))}
	if err := os.RemoveAll(m.dir); err != nil { // of one that was ended
		return Line{}, err
	}
	began := time.Now()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, p.program, append(of.args(p, u, done), "--quiet", "--out="+m.dir)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * time.Minute
	if err := cmd.Start(); err != nil {
		return Line{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	told := false
	for over := false; !over; {
		select {
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return Line{}, err
			}
			over = true
		case <-time.After(time.Second):
			r, err := hunts.Read(filepath.Join(m.dir, hunts.LatestLink))
			if err == nil && !told && slices.ContainsFunc(r.Finds, p.all[u.Name].shows) {
				told = true
				_ = cmd.Process.Signal(os.Interrupt)
			}
		}
	}
	m.stdout, m.stderr = stdout.String(), stderr.String()
	m.record, _ = hunts.Read(filepath.Join(m.dir, hunts.LatestLink))
	l := Line{Unit: u, Seconds: time.Since(began).Seconds(), Runs: len(m.record.Runs)}
	if len(m.record.Runs) == 0 {
		l.Why, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(m.stderr), "lockcheck: "), "\n")
	}
	of.learn(p, &m, &l)
	return l, nil
}

// readLines reads the units that ended. A kill may have cut the last line.
func readLines(path string) (lines []Line, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for n, one := range bytes.Split(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n")) {
		var l Line
		if len(one) == 0 {
			continue
		}
		if err := json.Unmarshal(one, &l); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n+1, err)
		}
		lines = append(lines, l)
	}
	if len(whole) < len(text) {
		return lines, os.Truncate(path, int64(len(whole)))
	}
	return lines, err
}

func appendLine(path string, l Line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(append(text, '\n')); err != nil {
		return err
	}
	return file.Sync()
}

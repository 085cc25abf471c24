package hunt

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"lockcheck/clusters"
	"lockcheck/reports/compare/config"
	"lockcheck/reports/hunts"
)

const journalVersion = 1

// Header is what a hunt was asked for. One that is resumed was asked for the same.
type Header struct {
	Version   int           `json:"version"`
	Lockcheck string        `json:"lockcheck"`
	Flags     []string      `json:"flags"` // of lockcheck run
	For       []string      `json:"for"`
	Seed      int64         `json:"seed"`
	Arm       string        `json:"arm,omitempty"` // what all trials are, where a search is measured
	Budget    time.Duration `json:"budget_ns"`
	Finds     int           `json:"finds,omitempty"` // different ones that are enough; 0: the whole budget is spent
	// What is made of finds, unless who resumes the hunt says it anew: which ones fail it, and those that were in the file of known ones.
	FailOn     string        `json:"fail_on,omitempty"`
	Known      string        `json:"known,omitempty"`
	KnownFinds []config.Find `json:"known_finds,omitempty"`
}

// entry is a line of the journal after the first: a trial that began, or the outcome of one.
type entry struct {
	Trial     *Trial   `json:"trial,omitempty"`
	N         int      `json:"n,omitempty"` // the trial that Outcome is of
	Outcome   *Outcome `json:"outcome,omitempty"`
	ElapsedNS int64    `json:"elapsed_ns"` // of the budget
}

// Hunt is a search with its journal.
type Hunt struct {
	Header Header
	search *Search
	file   *os.File
	mu     sync.Mutex
	open   []Trial       // begun, and not ended
	spent  time.Duration // of the budget, before this process
	began  time.Time
	Trials []Ended
	// Ignores reports whether a find is known to the user; it does not count towards Header.Finds. Nil: none is.
	Ignores func(Find) bool
	covered map[bool]map[string]int // by chance or not: features, and how many runs of these had them
}

// Ended is a trial with what came of it.
type Ended struct {
	Trial
	Outcome
	News News
	// At is when it ended, of the budget.
	At time.Duration
	// Covered is how many features two runs had by then: of those by chance if it is one, else of the guided ones.
	Covered int
}

// ByChance reports whether the search had no part in it.
func (t Trial) ByChance() bool { return t.Origin == Uniform }

// Create begins a journal in a directory.
func Create(dir string, header Header, search *Search) (*Hunt, error) {
	header.Version = journalVersion
	file, err := os.OpenFile(filepath.Join(dir, hunts.JournalFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	h := &Hunt{Header: header, search: search, file: file}
	return h, h.write(header)
}

// ReadHeader reads what a hunt was asked for.
func ReadHeader(dir string) (header Header, err error) {
	text, err := os.ReadFile(filepath.Join(dir, hunts.JournalFile))
	if err != nil {
		return header, err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if err := json.Unmarshal(line, &header); err != nil {
		return header, fmt.Errorf("%s:1: %w", hunts.JournalFile, err)
	}
	if header.Version != journalVersion {
		return header, fmt.Errorf("%s is of version %d; this lockcheck reads version %d", hunts.JournalFile, header.Version, journalVersion)
	}
	return header, nil
}

// Resume goes on with a journal. The search takes the same decisions once more; trials without an outcome are made again.
func Resume(dir string, search *Search) (*Hunt, error) {
	header, err := ReadHeader(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, hunts.JournalFile)
	file, err := os.OpenFile(path, os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	h := &Hunt{Header: header, search: search, file: file}
	if err := h.replay(); err != nil {
		file.Close()
		return nil, err
	}
	return h, nil
}

func (h *Hunt) replay() error {
	lines := bufio.NewReader(h.file)
	var whole int64 // bytes of whole lines: a kill may have cut the last one
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if whole += int64(len(line)); n == 1 {
			continue
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("%s:%d: %w", hunts.JournalFile, n, err)
		}
		h.spent = max(h.spent, time.Duration(e.ElapsedNS))
		if e.Trial != nil {
			if t := h.search.Next(); t.Nemesis != e.Trial.Nemesis || t.Seed != e.Trial.Seed {
				return fmt.Errorf("%s:%d: trial %d was %q, and would be %q now: go on with the version of lockcheck that began it, on such a machine", hunts.JournalFile, n, t.N, e.Trial.Nemesis, t.Nemesis)
			} else {
				h.open = append(h.open, t)
			}
			continue
		}
		i := slices.IndexFunc(h.open, func(t Trial) bool { return t.N == e.N })
		if i < 0 || e.Outcome == nil {
			return fmt.Errorf("%s:%d: an outcome of trial %d, which is not under way", hunts.JournalFile, n, e.N)
		}
		h.learn(h.open[i], *e.Outcome, time.Duration(e.ElapsedNS))
	}
	if whole == 0 {
		return fmt.Errorf("%s:1: the header is cut short", hunts.JournalFile)
	}
	if err := h.file.Truncate(whole); err != nil {
		return err
	}
	_, err := h.file.Seek(whole, io.SeekStart)
	return err
}

func (h *Hunt) learn(t Trial, o Outcome, at time.Duration) Ended {
	h.open = slices.DeleteFunc(h.open, func(other Trial) bool { return other.N == t.N })
	ended := Ended{t, o, h.search.Learn(t, o), at, h.cover(t, o)}
	ended.Features = nil // learned, and many
	h.Trials = append(h.Trials, ended)
	return ended
}

// cover counts the features that two runs had, of trials by chance and of others apart.
func (h *Hunt) cover(t Trial, o Outcome) (n int) {
	if h.covered == nil {
		h.covered = map[bool]map[string]int{true: {}, false: {}}
	}
	runs := h.covered[t.ByChance()]
	if o.Barren == "" {
		for _, feature := range o.Features {
			runs[feature]++
		}
	}
	for _, had := range runs {
		if had > 1 {
			n++
		}
	}
	return n
}

func (h *Hunt) write(line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if _, err := h.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("cannot write %s: %w", hunts.JournalFile, err)
	}
	return h.file.Sync()
}

// Spent is how much of the budget is spent.
func (h *Hunt) Spent() time.Duration {
	if h.began.IsZero() {
		return h.spent
	}
	return h.spent + time.Since(h.began)
}

// Seen is how many features two runs had.
func (h *Hunt) Seen() int { return h.search.Seen() }

// Close ends the journal.
func (h *Hunt) Close() error { return h.file.Close() }

// UnmadeError ends a hunt of which one run after the other came to no verdict.
type UnmadeError struct {
	Code int // the last run's exit code
	Why  string
}

func (e *UnmadeError) Error() string {
	return "one run after the other came to no verdict; the last: " + e.Why
}

// mostUnmade is how many runs in a row may come to no verdict.
const mostUnmade = 5

// unmade is the error of a hunt whose last runs came to no verdict.
func (h *Hunt) unmade() error {
	last := h.Trials[max(0, len(h.Trials)-mostUnmade):]
	if len(last) < mostUnmade || slices.ContainsFunc(last, func(e Ended) bool { return e.Unmade == 0 }) {
		return nil
	}
	return &UnmadeError{last[len(last)-1].Unmade, last[len(last)-1].Barren}
}

// next is the trial to make next. That no fault is left is the failure of the last run that could not be made.
func (h *Hunt) next() (Trial, error) {
	t := h.search.Next()
	if t.spec != nil {
		return t, nil
	}
	for _, last := range slices.Backward(h.Trials) {
		if last.Unmade != 0 {
			return t, &UnmadeError{last.Unmade, last.Barren}
		}
	}
	return t, fmt.Errorf("%w: any fault that this run could have; lockcheck doctor lists what is missing", clusters.ErrUnavailable)
}

// Go makes trials, several at once, until the budget is spent, enough was found or ctx is done: those under way then are told to end and are
// made again by a resumed hunt. What run returns for a trial that ctx ended is not learned.
func (h *Hunt) Go(ctx context.Context, jobs int, run func(context.Context, Trial) Outcome, ended func(Ended)) error {
	h.began = time.Now()
	again := slices.Clone(h.open) // begun before, by a process that is gone
	var failed error
	var working sync.WaitGroup
	for range jobs {
		working.Go(func() {
			for {
				h.mu.Lock()
				if failed != nil || ctx.Err() != nil || h.Spent() >= h.Header.Budget || h.Header.Finds > 0 && h.New() >= h.Header.Finds {
					h.mu.Unlock()
					return
				}
				var t Trial
				if len(again) > 0 {
					t, again = again[0], again[1:]
				} else if t, failed = h.next(); failed == nil {
					h.open = append(h.open, t)
					failed = h.write(entry{Trial: &t, ElapsedNS: int64(h.Spent())})
				}
				stop := failed != nil
				h.mu.Unlock()
				if stop {
					return
				}

				o := run(ctx, t)

				h.mu.Lock()
				if ctx.Err() == nil && failed == nil {
					failed = h.write(entry{N: t.N, Outcome: &o, ElapsedNS: int64(h.Spent())})
					ended(h.learn(t, o, h.Spent()))
					failed = cmp.Or(failed, h.unmade())
				}
				h.mu.Unlock()
			}
		})
	}
	working.Wait()
	return errors.Join(failed, h.file.Sync())
}

// Finds is how many different finds there are.
func (h *Hunt) Finds() (n int) {
	for _, t := range h.Trials {
		n += len(t.News.New)
	}
	return n
}

// New is how many different finds there are that the user does not know.
func (h *Hunt) New() (n int) {
	for _, t := range h.Trials {
		for _, find := range t.News.New {
			if h.Ignores == nil || !h.Ignores(find) {
				n++
			}
		}
	}
	return n
}

package disk

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Serve serves a mount until its standard input ends. It is what `lockcheck disk` does, and with --probe what its probe does.
func Serve(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet(Command, flag.ContinueOnError)
	dir := flags.String("dir", "", "directory to mount over")
	data := flags.String("data", "", "directory that keeps the data")
	limbo := flags.String("limbo", "", "directory beside the data; with one, the disk knows what was not synced, and the power can be cut")
	probed := flags.String("probe", "", "be the probe of the mount at this directory")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *probed != "" {
		return serveProbe(*probed, in, out)
	}
	// A request is carried out in a few microseconds. On one thread at a time it is by the thread that read it; with more, each wakes up another one.
	runtime.GOMAXPROCS(1)
	answers := json.NewEncoder(out)
	s, err := newServing(*dir, *data, *limbo)
	if err != nil {
		return answers.Encode(answer{Error: err.Error()})
	}
	if err := answers.Encode(answer{}); err != nil {
		return err
	}
	for asked := json.NewDecoder(in); ; {
		var r request
		if err := asked.Decode(&r); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return errors.Join(err, s.close())
		}
		a := answer{ID: r.ID}
		if a.Lost, err = s.do(r); err != nil {
			a.Error = err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}

// serving is one data directory with its mount.
type serving struct {
	dir, data, limbo string
	verified
	mounted  *mounted
	unsynced *unsynced // of what is mounted; nil if nothing is known of that
}

func newServing(dir, data, limbo string) (s *serving, err error) {
	unix.Umask(0) // the modes that are asked for are the server's own
	s = &serving{dir: dir, data: data, limbo: limbo, verified: verified{gate: newGate(isDying), held: map[Class][]<-chan attempt{}}}
	if s.probe, err = startProbe(dir); err != nil {
		return nil, err
	}
	return s, s.mount()
}

func (s *serving) mount() (err error) {
	if err := placeProbe(s.data); err != nil {
		return err
	}
	if s.limbo != "" {
		if s.unsynced, err = newUnsynced(s.limbo); err != nil {
			return err
		}
	}
	s.mounted, err = mount(s.dir, s.data, s.gate, s.unsynced)
	return err
}

func (s *serving) do(r request) (lost Lost, err error) {
	switch r.Do {
	case doBegin:
		ctx, cancel := context.WithTimeout(context.Background(), beginTimeout)
		defer cancel()
		return lost, s.begin(ctx, r.Name, r.Rule)
	case doEnd:
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()
		return lost, s.end(ctx, r.Name)
	case doWipe:
		return lost, s.wipe()
	case doCut:
		ctx, cancel := context.WithTimeout(context.Background(), cutTimeout)
		defer cancel()
		return s.cut(ctx, r.How)
	case doSyncAll:
		return lost, s.syncAll()
	}
	return lost, fmt.Errorf("it is asked to %q, which it does not know", r.Do)
}

// wipe makes the mount anew, because the kernel remembers the names of the old one.
func (s *serving) wipe() error {
	if err := s.mounted.unmount(); err != nil {
		return err
	}
	if err := s.unsynced.forget(); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.data)
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.data, entry.Name())))
	}
	return errors.Join(err, s.mount())
}

// close takes the mount away. What is still in flight is answered when this process ends.
func (s *serving) close() error { return s.mounted.unmount() }

// isDying reports whether a thread was sent SIGKILL, or is gone.
func isDying(t thread) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", t))
	if err != nil {
		return errors.Is(err, os.ErrNotExist)
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		if name != "SigPnd" && name != "ShdPnd" {
			continue
		}
		var pending uint64
		if _, err := fmt.Sscanf(strings.TrimSpace(value), "%x", &pending); err == nil && pending&(1<<(unix.SIGKILL-1)) != 0 {
			return true
		}
	}
	return false
}

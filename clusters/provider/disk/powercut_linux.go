package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// cutTimeout bounds how long the disk may take to be without what was not synced, and to be seen to be.
const cutTimeout = 8 * time.Second

// powerDir is where the probe writes with and without sync before the power is cut: in the root of the mount, and not listed there.
const powerDir = ".lockcheck-power"

// What the probe does about a power cut. They are no classes of requests, and asked for by the same means.
const (
	beforeCut      Class = "before a power cut"
	afterCut       Class = "after a power cut"
	afterJournaled Class = "after a power cut of a disk with a journal"
)

var errNotKept = errors.New("this disk was not mounted to know what is synced")

// cut has the data become what was synced of it, and returns once the probe saw that. The mount is made anew: the kernel has in memory
// what it was. What is still asked of the old one fails.
func (s *serving) cut(ctx context.Context, how How) (lost Lost, err error) {
	if s.unsynced == nil {
		return lost, errNotKept
	}
	if err := s.tryPower(ctx, beforeCut); err != nil {
		return lost, err
	}
	lost, err = s.unsynced.lose(how)
	if err := errors.Join(err, s.mounted.unmount(), s.mount()); err != nil {
		return lost, err
	}
	if how.Journaled {
		return lost, s.tryPower(ctx, afterJournaled)
	}
	return lost, s.tryPower(ctx, afterCut)
}

func (s *serving) syncAll() error {
	if s.unsynced == nil {
		return errNotKept
	}
	return s.unsynced.syncAll()
}

func (s *serving) tryPower(ctx context.Context, class Class) error {
	a, err := s.probe.try(ctx, class)
	if err == nil && a.Errno != 0 {
		err = fmt.Errorf("%s, seen by files of its own: %s", class, a.Said)
	}
	return err
}

var (
	synced   = bytes.Repeat([]byte("s"), block+100)
	unwanted = bytes.Repeat([]byte("u"), 2*block)
)

// powerTries write what has to be there afterwards and what must not, and look.
var powerTries = map[Class]func(dir string) error{
	beforeCut: func(dir string) error {
		return errors.Join(
			clean(dir),
			write(dir, "synced", synced, true),
			write(dir, "removed", synced, true),
			syncDir(dir),
			write(dir, "longer", synced, true),
			syncDir(dir),
			write(dir, "synced", unwanted, false),
			write(dir, "unnamed", synced, true), // which a journal makes safe with its content
			write(dir, "late", nil, false),
			os.Remove(filepath.Join(dir, "removed")),
		)
	},
	afterCut: func(dir string) error {
		return errors.Join(asSynced(dir), isNot(dir, "unnamed"), clean(dir))
	},
	afterJournaled: func(dir string) error {
		return errors.Join(asSynced(dir), is(dir, "unnamed", synced), clean(dir))
	},
}

func asSynced(dir string) error {
	return errors.Join(is(dir, "synced", synced), is(dir, "longer", synced), is(dir, "removed", synced), isNot(dir, "late"))
}

func isNot(dir, name string) error {
	_, err := os.Lstat(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(fmt.Errorf("the name %s, which was not synced, is there", name), err)
}

// clean removes the probe's files for good.
func clean(dir string) error {
	var failed error
	for _, name := range []string{"synced", "removed", "longer", "unnamed", "late"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return errors.Join(failed, syncDir(dir))
}

func write(dir, name string, data []byte, sync bool) error {
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil && sync {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

func is(dir, name string, want []byte) error {
	got, err := os.ReadFile(filepath.Join(dir, name))
	switch {
	case err != nil:
		return fmt.Errorf("what was synced is not there: %w", err)
	case !bytes.Equal(got, want):
		return fmt.Errorf("the file %s has %d bytes that are not those that were synced", name, len(got))
	}
	return nil
}

func syncDir(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Fsync(fd), unix.Close(fd))
}

package disk

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// lose makes the data what was synced of it, as it is once the power is back. From then on nothing is carried out here any more. The
// number of one that tears decides what of that is kept.
func (u *unsynced) lose(how How) (lost Lost, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.gone = true
	var toss *rand.Rand
	if how.Torn != 0 {
		toss = rand.New(rand.NewPCG(how.Torn, 0x746f726e))
	}
	for _, ino := range slices.Sorted(maps.Keys(u.images)) {
		i := u.images[ino]
		of, again := i.lose(toss)
		err = errors.Join(err, again)
		if !i.own {
			lost = lost.plus(of)
		}
	}
	t := u.tables[byDirectory]
	if how.Journaled {
		t = u.tables[byJournal]
	}
	names, again := u.restoreNames(t)
	lost.Names, err = lost.Names+names, errors.Join(err, again)
	return lost, errors.Join(err, u.close())
}

// restoreNames has every changed name stand for what it stood for. All of them are taken away first, because a directory has one place.
func (u *unsynced) restoreNames(t table) (changed int64, err error) {
	for _, d := range t {
		for name, c := range d.names {
			is, failed := lookUp(d.fd, name)
			switch {
			case failed != nil || is.ino == 0:
			case is.dir:
				failed = unix.Renameat(d.fd, name, unix.AT_FDCWD, u.inLimbo(is.ino))
			default:
				failed = unix.Unlinkat(d.fd, name, 0)
			}
			if is != c.was && !d.own {
				changed++
			}
			err = errors.Join(err, failed)
		}
	}
	for _, d := range t {
		for name, c := range d.names {
			switch {
			case c.was.ino == 0:
			case c.was.dir:
				err = errors.Join(err, unix.Renameat(unix.AT_FDCWD, u.inLimbo(c.was.ino), d.fd, name))
			default:
				err = errors.Join(err, unix.Linkat(unix.AT_FDCWD, u.inLimbo(c.was.ino), d.fd, name, 0))
			}
		}
	}
	return changed, err
}

// close empties limbo and closes what is open. It is called with mu held.
func (u *unsynced) close() (err error) {
	for _, i := range u.images {
		err = errors.Join(err, unix.Close(i.fd))
	}
	for _, t := range u.tables {
		for _, d := range t {
			err = errors.Join(err, unix.Close(d.fd))
		}
		clear(t)
	}
	clear(u.images)
	clear(u.kept)
	entries, again := os.ReadDir(u.limbo)
	err = errors.Join(err, again)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(u.limbo, e.Name())))
	}
	return err
}

// forget is for data that was removed.
func (u *unsynced) forget() error {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.gone = true
	return u.close()
}

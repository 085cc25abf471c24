package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"golang.org/x/sys/unix"
)

// unsynced is what a disk would lose with the power. It undoes instead of delaying: the data always is as its programs see it, and
// beside it is kept what was synced and is no more as it was.
//
//	of a file       its size when it was last synced, and the blocks of it that were written since, as they were
//	of a directory  the names in it that were changed since it was last synced, and what they stood for
//
// Names need a sync of their directory, as POSIX has it: that of the file is not enough. A rename is one change: a sync of either
// directory makes both of its halves safe, and the way to them, because no journal has one without the other. File systems with a journal
// (ext4, XFS) give more than was asked for: a sync of anything makes all changes of names before it safe. Both are kept, and a power cut
// says which of them counts. Owners, modes and times are safe at once.
//
// What a synced name stands for must still be there if the name is not: it has another name in limbo, a directory beside the data.
//
// A nil one keeps nothing.
type unsynced struct {
	limbo string

	mu     sync.Mutex
	gone   bool              // the power is: nothing is carried out any more
	images map[uint64]*image // of files that are open for writing, or changed; by inode
	tables [2]table          // names that were changed: by the sync of their directory, and by that of anything
	kept   map[uint64]int    // inodes: how many synced names, changed since, stand for them
}

// table is the directories with changed names, by inode.
type table map[uint64]*directory

const byDirectory, byJournal = 0, 1

// directory is one with changed names.
type directory struct {
	fd    int
	names map[string]*change
	own   bool // it is the probe's
}

// change is what became of one name since its directory was synced.
type change struct {
	was  entry
	with []name // other halves of renames
}

// entry is what a name stands for; 0 for nothing.
type entry struct {
	ino uint64
	dir bool
}

// name is one in a directory.
type name struct {
	dir  uint64
	name string
}

// path is where a name is in the data.
type path struct{ dir, name string }

func newUnsynced(limbo string) (*unsynced, error) {
	if err := os.MkdirAll(limbo, 0o700); err != nil {
		return nil, err
	}
	return &unsynced{limbo: limbo, images: map[uint64]*image{}, tables: [2]table{{}, {}}, kept: map[uint64]int{}}, nil
}

// change carries out a change of names, and notes what they stood for. Several names are one change.
func (u *unsynced) change(do func() syscall.Errno, paths ...path) syscall.Errno {
	if u == nil {
		return do()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.gone {
		return syscall.EIO
	}
	var undo []func()
	abandon := func() {
		for _, u := range undo {
			u()
		}
	}
	var done []func()
	for _, t := range u.tables {
		names, noted, err := u.noteAll(t, paths)
		undo = append(undo, func() { u.settle(t, noted) })
		done = append(done, func() { t.join(names) })
		if err != nil {
			abandon()
			return fs.ToErrno(err)
		}
	}
	if errno := do(); errno != 0 {
		abandon()
		return errno
	}
	for _, join := range done {
		join()
	}
	return 0
}

// noteAll notes what names stand for in a table; noted are those of them that were not changed before.
func (u *unsynced) noteAll(t table, paths []path) (names, noted []name, err error) {
	for _, p := range paths {
		n, fresh, err := u.note(t, p)
		if err != nil {
			return names, noted, err
		}
		names = append(names, n)
		if fresh {
			noted = append(noted, n)
		}
	}
	return names, noted, nil
}

// join makes names one change, but for those that were settled by what it led to.
func (t table) join(names []name) {
	for _, n := range names {
		d := t[n.dir]
		if d == nil || d.names[n.name] == nil {
			continue
		}
		c := d.names[n.name]
		for _, other := range names {
			if other != n && !slices.Contains(c.with, other) {
				c.with = append(c.with, other)
			}
		}
	}
}

// note notes what a name stands for, if it was not changed since its directory was synced.
func (u *unsynced) note(t table, p path) (n name, fresh bool, err error) {
	var st unix.Stat_t
	if err := unix.Stat(p.dir, &st); err != nil {
		return n, false, err
	}
	n = name{st.Ino, p.name}
	d := t[n.dir]
	if d == nil {
		fd, err := unix.Open(p.dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return n, false, err
		}
		d = &directory{fd, map[string]*change{}, filepath.Base(p.dir) == powerDir}
		t[n.dir] = d
	}
	if d.names[n.name] != nil {
		return n, false, nil
	}
	was, err := lookUp(d.fd, n.name)
	if err == nil {
		err = u.keep(d.fd, n.name, was)
	}
	if err != nil {
		t.closeIfClean(n.dir)
		return n, false, err
	}
	d.names[n.name] = &change{was: was}
	return n, true, nil
}

// lookUp is what a name stands for now.
func lookUp(dir int, name string) (entry, error) {
	var st unix.Stat_t
	switch err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); {
	case errors.Is(err, unix.ENOENT):
		return entry{}, nil
	case err != nil:
		return entry{}, err
	}
	return entry{st.Ino, st.Mode&unix.S_IFMT == unix.S_IFDIR}, nil
}

func (u *unsynced) inLimbo(ino uint64) string {
	return filepath.Join(u.limbo, strconv.FormatUint(ino, 10))
}

// keep sees to it that an entry stays there. A directory can have no second name: it gets into limbo when it is removed.
func (u *unsynced) keep(dir int, name string, e entry) error {
	if e.ino == 0 {
		return nil
	}
	if u.kept[e.ino] == 0 && !e.dir {
		if err := unix.Linkat(dir, name, unix.AT_FDCWD, u.inLimbo(e.ino), 0); err != nil {
			return fmt.Errorf("keep %s: %w", name, err)
		}
	}
	u.kept[e.ino]++
	return nil
}

// release is the end of keep.
func (u *unsynced) release(e entry) {
	if e.ino == 0 {
		return
	}
	if u.kept[e.ino]--; u.kept[e.ino] > 0 {
		return
	}
	delete(u.kept, e.ino)
	if !e.dir {
		_ = unix.Unlink(u.inLimbo(e.ino))
		u.tidy(e.ino)
	} else if unix.Rmdir(u.inLimbo(e.ino)) == nil {
		u.dropDirectory(e.ino)
	}
}

// dropDirectory forgets a directory that is no more.
func (u *unsynced) dropDirectory(ino uint64) {
	for _, t := range u.tables {
		if d := t[ino]; d != nil {
			u.settle(t, d.all(ino))
		}
	}
}

func (d *directory) all(ino uint64) (names []name) {
	for n := range d.names {
		names = append(names, name{ino, n})
	}
	return names
}

// settle takes names as synced, and with them the other halves of renames.
func (u *unsynced) settle(t table, names []name) {
	for len(names) > 0 {
		n := names[0]
		names = names[1:]
		d := t[n.dir]
		if d == nil || d.names[n.name] == nil {
			continue
		}
		c := d.names[n.name]
		delete(d.names, n.name)
		t.closeIfClean(n.dir)
		names = append(names, c.with...)
		if slices.ContainsFunc(c.with, func(o name) bool { return o.dir != n.dir }) {
			names = append(names, t.leadingTo(n.dir)...)
		}
		u.release(c.was)
	}
}

// leadingTo are the changed names of a directory and of those above it. What was moved there for good must not be lost with them.
func (t table) leadingTo(dir uint64) (names []name) {
	for above, d := range t {
		for n := range d.names {
			if e, err := lookUp(d.fd, n); err == nil && e.ino == dir {
				return append(t.leadingTo(above), name{above, n})
			}
		}
	}
	return nil
}

func (t table) closeIfClean(dir uint64) {
	if d := t[dir]; d != nil && len(d.names) == 0 {
		_ = unix.Close(d.fd)
		delete(t, dir)
	}
}

// syncDirectory takes the names in a directory as synced.
func (u *unsynced) syncDirectory(dir string) syscall.Errno {
	if u == nil {
		return 0
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return fs.ToErrno(err)
	}
	if u.gone {
		return syscall.EIO
	}
	if d := u.tables[byDirectory][st.Ino]; d != nil {
		u.settle(u.tables[byDirectory], d.all(st.Ino))
	}
	u.commit(filepath.Base(dir) == powerDir)
	return 0
}

// commit takes all names as synced by the journal; a sync of the probe's only its own, because it is none of a server's.
func (u *unsynced) commit(own bool) {
	for ino, d := range u.tables[byJournal] {
		if d.own || !own {
			u.settle(u.tables[byJournal], d.all(ino))
		}
	}
}

func (u *unsynced) settleAll(t table) {
	for ino, d := range t {
		u.settle(t, d.all(ino))
	}
}

// syncAll takes all that is there as synced.
func (u *unsynced) syncAll() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	var failed error
	for ino, i := range u.images {
		failed = errors.Join(failed, i.sync())
		u.tidy(ino)
	}
	for _, t := range u.tables {
		u.settleAll(t)
	}
	return failed
}

// links is how many names a file has for those who use the disk.
func (u *unsynced) links(ino uint64, n uint32) uint32 {
	if u == nil {
		return n
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.kept[ino] > 0 && n > 0 {
		n--
	}
	return n
}

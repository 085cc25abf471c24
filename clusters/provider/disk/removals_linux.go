package disk

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"golang.org/x/sys/unix"
)

// What takes names away has to leave what they stood for where a power cut finds it.

// remove removes a directory, or has it stay in limbo if a synced name stands for it.
func (u *unsynced) remove(p path, do func() syscall.Errno) syscall.Errno {
	return u.change(func() syscall.Errno {
		if u == nil {
			return do()
		}
		return u.vacate(p, do)
	}, p)
}

// vacate takes an empty directory away: by do, or into limbo.
func (u *unsynced) vacate(p path, do func() syscall.Errno) syscall.Errno {
	full := filepath.Join(p.dir, p.name)
	e, err := lookUp(unix.AT_FDCWD, full)
	if err != nil {
		return fs.ToErrno(err)
	}
	if u.kept[e.ino] == 0 || !e.dir {
		errno := do()
		if errno == 0 && e.dir {
			u.dropDirectory(e.ino)
		}
		return errno
	}
	switch entries, err := os.ReadDir(full); {
	case err != nil:
		return fs.ToErrno(err)
	case len(entries) > 0:
		return syscall.ENOTEMPTY
	}
	return fs.ToErrno(unix.Rename(full, u.inLimbo(e.ino)))
}

// unlink removes a name of a file.
func (u *unsynced) unlink(p path, do func() syscall.Errno) syscall.Errno {
	return u.change(func() syscall.Errno {
		if u == nil {
			return do()
		}
		e, err := lookUp(unix.AT_FDCWD, filepath.Join(p.dir, p.name))
		if err != nil {
			return fs.ToErrno(err)
		}
		errno := do()
		u.tidy(e.ino)
		return errno
	}, p)
}

// rename carries out a rename. What it replaces may be a synced name's.
func (u *unsynced) rename(from, to path, exchange bool, do func() syscall.Errno) syscall.Errno {
	return u.change(func() syscall.Errno {
		if u == nil || exchange {
			return do()
		}
		replaced, err := lookUp(unix.AT_FDCWD, filepath.Join(to.dir, to.name))
		if err != nil {
			return fs.ToErrno(err)
		}
		if replaced.dir && u.kept[replaced.ino] > 0 {
			if errno := u.vacate(to, nil); errno != 0 {
				return errno
			}
		}
		errno := do()
		switch {
		case errno != 0 && replaced.dir && u.kept[replaced.ino] > 0:
			_ = unix.Rename(u.inLimbo(replaced.ino), filepath.Join(to.dir, to.name))
		case errno == 0 && replaced.dir && u.kept[replaced.ino] == 0:
			u.dropDirectory(replaced.ino)
		case errno == 0:
			u.tidy(replaced.ino)
		}
		return errno
	}, from, to)
}

package disk

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"golang.org/x/sys/unix"
)

// image is a file as it was when it was last synced, as far as it is another one now.
type image struct {
	fd      int
	size    int64            // when it was synced
	blocks  map[int64][]byte // that were changed since, as far as they are below that size; nil for zeros
	changed bool
	users   int  // handles that wrote to it
	own     bool // it is the probe's: never torn, and not counted
}

// imageOf is that of an open file, which the handle keeps until leave.
func (u *unsynced) imageOf(f *file) (*image, error) {
	if f.image != nil {
		return f.image, nil
	}
	fd, _ := f.data.PassthroughFd()
	i, err := u.imageAt(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err == nil {
		i.users++
		i.own = i.own || f.of.own
		f.image = i
	}
	return i, err
}

// imageAt is that of the file at a path.
func (u *unsynced) imageAt(path string) (*image, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	if i := u.images[st.Ino]; i != nil {
		return i, unix.Close(fd)
	}
	i := &image{fd: fd, size: st.Size, blocks: map[int64][]byte{}}
	u.images[st.Ino] = i
	return i, nil
}

// created notes a file that was just made: nothing of it is synced.
func (u *unsynced) created(f *file) syscall.Errno {
	if u == nil {
		return 0
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	_, err := u.imageOf(f)
	return fs.ToErrno(err)
}

// write carries out what changes bytes of an open file, from off to end.
func (u *unsynced) write(f *file, off, end int64, do func() syscall.Errno) syscall.Errno {
	if u == nil {
		return do()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.gone {
		return syscall.EIO
	}
	i, err := u.imageOf(f)
	if err == nil {
		err = i.keep(off, end)
	}
	if err != nil {
		return fs.ToErrno(err)
	}
	errno := do()
	if errno == 0 && f.flags&unix.O_DSYNC != 0 { // O_SYNC has that bit, too
		u.commit(f.of.own)
		errno = fs.ToErrno(i.sync())
	}
	return errno
}

// truncate carries out a change of the size of a file, open or at a path.
func (u *unsynced) truncate(f *file, path string, size int64, do func() syscall.Errno) syscall.Errno {
	if u == nil {
		return do()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.gone {
		return syscall.EIO
	}
	var i *image
	var err error
	if f != nil {
		i, err = u.imageOf(f)
	} else {
		i, err = u.imageAt(path)
	}
	if err == nil {
		err = i.keep(size, i.size)
	}
	if err != nil {
		return fs.ToErrno(err)
	}
	return do()
}

// syncFile takes what is in an open file as synced, no matter which process wrote it.
func (u *unsynced) syncFile(f *file) syscall.Errno {
	if u == nil {
		return 0
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.gone {
		return syscall.EIO
	}
	u.commit(f.of.own)
	i := f.image
	if i == nil {
		fd, _ := f.data.PassthroughFd()
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return fs.ToErrno(err)
		}
		if i = u.images[st.Ino]; i == nil {
			return 0
		}
	}
	return fs.ToErrno(i.sync())
}

// leave is the end of a handle.
func (u *unsynced) leave(f *file) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if f.image == nil || u.gone {
		return
	}
	f.image.users--
	var st unix.Stat_t
	if unix.Fstat(f.image.fd, &st) == nil {
		u.tidy(st.Ino)
	}
	f.image = nil
}

// tidy forgets an image that says nothing: its file is as it was synced, or has no name that could come back.
func (u *unsynced) tidy(ino uint64) {
	i := u.images[ino]
	if i == nil || i.users > 0 {
		return
	}
	var st unix.Stat_t
	if err := unix.Fstat(i.fd, &st); err == nil && st.Nlink > 0 && i.changed {
		return
	}
	_ = unix.Close(i.fd)
	delete(u.images, ino)
}

// keep keeps the synced blocks between two places that are about to change.
func (i *image) keep(off, end int64) error {
	i.changed = true
	for b := off / block; b*block < min(end, i.size); b++ {
		if _, known := i.blocks[b]; known {
			continue
		}
		page := make([]byte, i.length(b))
		n, err := unix.Pread(i.fd, page, b*block)
		if err != nil {
			return err
		}
		if n < len(page) {
			return unix.EIO // what was cut off was kept before that
		}
		if !slices.ContainsFunc(page, func(c byte) bool { return c != 0 }) {
			page = nil
		}
		i.blocks[b] = page
	}
	return nil
}

// length is how much of a block is below the synced size.
func (i *image) length(b int64) int64 { return min(block, i.size-b*block) }

// sync takes the file as it is.
func (i *image) sync() error {
	var st unix.Stat_t
	if err := unix.Fstat(i.fd, &st); err != nil {
		return err
	}
	i.size, i.changed = st.Size, false
	clear(i.blocks)
	return nil
}

// sector is what a disk writes as a whole, or not at all.
const sector = 512

// lose makes the file what it was when it was last synced. Of one that is torn some sectors stay what they are now, each by the toss of
// a coin, and the size reaches up to the last of them.
func (i *image) lose(torn *rand.Rand) (lost Lost, err error) {
	if i.own {
		torn = nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(i.fd, &st); err != nil {
		return lost, err
	}
	size, pages := i.size, map[int64][]byte{}
	for _, b := range i.touched(st.Size) {
		pages[b] = make([]byte, block)
		copy(pages[b], i.blocks[b])
		end := max(st.Size, i.size)
		kept, last, err := i.tear(b, pages[b], min(end, st.Size), torn)
		if err != nil {
			return lost, err
		}
		size = max(size, last)
		lost.KeptBytes += kept
		lost.Bytes += min(block, end-b*block) - kept
	}
	if lost.Bytes > 0 || st.Size != size {
		lost.Files = 1
	}
	if err := unix.Ftruncate(i.fd, size); err != nil {
		return lost, err
	}
	for b, page := range pages {
		page = page[:max(0, min(block, size-b*block))]
		if _, err := unix.Pwrite(i.fd, page, b*block); err != nil {
			return lost, err
		}
	}
	return lost, nil
}

// touched are the blocks that may be others than when the file was synced, which has a size now.
func (i *image) touched(size int64) []int64 {
	all := slices.Sorted(maps.Keys(i.blocks))
	for b := (i.size + block - 1) / block; b*block < size; b++ {
		all = append(all, b)
	}
	return all
}

// tear puts what stays of a block as it is into a page of it as it was: so many bytes, the last of which ends there.
func (i *image) tear(b int64, page []byte, end int64, torn *rand.Rand) (kept, last int64, err error) {
	if torn == nil {
		return 0, 0, nil
	}
	live := make([]byte, block)
	if _, err := unix.Pread(i.fd, live, b*block); err != nil {
		return 0, 0, err
	}
	for at := int64(0); at < block && b*block+at < end; at += sector {
		if torn.IntN(2) == 0 {
			continue
		}
		copy(page[at:at+sector], live[at:])
		last = min(b*block+at+sector, end)
		kept += last - b*block - at
	}
	return kept, last, nil
}

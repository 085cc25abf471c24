package disk

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

const device = "/dev/fuse"

// Available is nil where this process can mount such a file system, as far as can be said without a mount.
func Available() error {
	fd, err := openDevice()
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// openDevice opens the kernel's end of a file system. No other process gets it: the kernel answers what is in flight once the last one
// that has it is gone.
func openDevice() (int, error) {
	fd, err := unix.Open(device, unix.O_RDWR|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return -1, fmt.Errorf("%s cannot be opened (%w): faults of disks need a file system in user space; let everybody open it (chmod a+rw %s, as most "+
			"distributions have it) or run as root", device, err, device)
	case err != nil:
		return -1, fmt.Errorf("%s cannot be opened (%w): faults of disks need a kernel with FUSE (modprobe fuse)", device, err)
	}
	return fd, nil
}

// forLong is for how long the kernel keeps names and attributes: nothing changes them but through the mount itself.
const forLong = time.Hour

// mounted is one mount.
type mounted struct {
	dir    string
	server *fuse.Server
}

// mount mounts a file system whose data is in a directory over another one. This process may not touch that one from then on.
func mount(dir, data string, g *gate, u *unsynced) (*mounted, error) {
	root, err := newRoot(data, g, u)
	if err != nil {
		return nil, err
	}
	fd, err := openDevice()
	if err != nil {
		return nil, err
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d,allow_other", fd, os.Geteuid(), os.Getegid())
	if err := unix.Mount("lockcheck", dir, "fuse.lockcheck", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return nil, errors.Join(fmt.Errorf("mount a file system over %s: %w", dir, err), unix.Close(fd))
	}
	timeout := forLong
	server, err := fuse.NewServer(fs.NewNodeFS(root, &fs.Options{
		EntryTimeout: &timeout, AttrTimeout: &timeout, NullPermissions: true,
	}), fmt.Sprintf("/dev/fd/%d", fd), &fuse.MountOptions{
		Name: "lockcheck", ExplicitDataCacheControl: true, MaxWrite: 128 << 10,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("serve the file system over %s: %w", dir, err), unix.Unmount(dir, unix.MNT_DETACH))
	}
	go server.Serve()
	return &mounted{dir, server}, nil
}

// unmount takes the mount away, also from a process that still uses it.
func (m *mounted) unmount() error {
	if err := unix.Unmount(m.dir, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount %s: %w", m.dir, err)
	}
	return nil
}

// Detach takes a mount away whose process is gone.
func Detach(dir string) error {
	if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("unmount %s: %w", dir, err)
	}
	return nil
}

package disk

import (
	"context"
	"math"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// probeDir is where the probe has its file: in the root of the mount, and not listed there.
const probeDir = ".lockcheck-probe"

// node is a file or directory. What it does not do here it does as the loopback does.
type node struct {
	fs.LoopbackNode
	gate     *gate
	probe    bool // it is the probe's directory, or below it
	own      bool // the same for what shows that the power was cut: no rule is about it
	unsynced *unsynced
}

var (
	_ fs.NodeOpener         = (*node)(nil)
	_ fs.NodeCreater        = (*node)(nil)
	_ fs.NodeOpendirHandler = (*node)(nil)
	_ fs.NodeFsyncer        = (*node)(nil)
)

// newRoot is the root of a file system whose data is in a directory.
func newRoot(data string, g *gate, u *unsynced) (fs.InodeEmbedder, error) {
	var st syscall.Stat_t
	if err := syscall.Stat(data, &st); err != nil {
		return nil, err
	}
	root := &fs.LoopbackRoot{Path: data, Dev: uint64(st.Dev)}
	newNode := func(r *fs.LoopbackRoot, parent *fs.Inode, name string, _ *syscall.Stat_t) fs.InodeEmbedder {
		n := &node{LoopbackNode: fs.LoopbackNode{RootData: r}, gate: g, unsynced: u}
		if parent != nil {
			above := parent.Operations().(*node)
			n.probe = parent.IsRoot() && name == probeDir || above.probe
			n.own = parent.IsRoot() && name == powerDir || above.own
			if n.probe { // it sees rules, also those that outlast a power cut
				n.unsynced = nil
			}
		}
		return n
	}
	//lint:ignore SA1019 what replaces it is not told the name, by which the probe's directory is known
	root.NewNode = newNode
	root.RootNode = newNode(root, nil, "", nil)
	return root.RootNode, nil
}

// ask waits for the gate.
func (n *node) ask(ctx context.Context, class Class) syscall.Errno {
	if n.own {
		return 0
	}
	return n.gate.pass(class, askedBy(ctx), n.probe)
}

func askedBy(ctx context.Context) thread {
	if caller, ok := fuse.FromContext(ctx); ok {
		return thread(caller.Pid)
	}
	return 0
}

func (n *node) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if flags&syscall.O_TRUNC != 0 {
		if errno := n.ask(ctx, Writes); errno != 0 {
			return nil, 0, errno
		}
	}
	h, _, errno := n.LoopbackNode.Open(ctx, flags&^syscall.O_TRUNC)
	if errno != 0 {
		return nil, 0, errno
	}
	f := &file{of: n, data: h.(*fs.LoopbackFile), flags: flags}
	if flags&syscall.O_TRUNC != 0 {
		return f, fuse.FOPEN_KEEP_CACHE, f.empty()
	}
	return f, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *node) Create(ctx context.Context, name string, flags uint32, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	if errno := n.ask(ctx, Writes); errno != 0 {
		return nil, nil, 0, errno
	}
	var made *fs.Inode
	var h fs.FileHandle
	errno := n.unsynced.change(func() (errno syscall.Errno) {
		made, h, _, errno = n.LoopbackNode.Create(ctx, name, flags, mode, out)
		return errno
	}, n.named(name))
	if errno != 0 {
		return nil, nil, 0, errno
	}
	f := &file{of: made.Operations().(*node), data: h.(*fs.LoopbackFile), flags: flags}
	return made, f, 0, n.unsynced.created(f)
}

// Fsync is that of directories, and of files. The data is as safe as the machine's memory is, synced or not: what a sync is good for
// shows when the power is cut.
func (n *node) Fsync(ctx context.Context, h fs.FileHandle, _ uint32) syscall.Errno {
	if errno := n.ask(ctx, Syncs); errno != 0 {
		return errno
	}
	if f, ok := h.(*file); ok {
		return n.unsynced.syncFile(f)
	}
	return n.unsynced.syncDirectory(n.path())
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := n.ask(ctx, Writes); errno != 0 {
		return nil, errno
	}
	return n.made(name, func() (*fs.Inode, syscall.Errno) { return n.LoopbackNode.Mkdir(ctx, name, mode, out) })
}

func (n *node) Mknod(ctx context.Context, name string, mode, dev uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := n.ask(ctx, Writes); errno != 0 {
		return nil, errno
	}
	return n.made(name, func() (*fs.Inode, syscall.Errno) { return n.LoopbackNode.Mknod(ctx, name, mode, dev, out) })
}

func (n *node) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := n.ask(ctx, Writes); errno != 0 {
		return nil, errno
	}
	return n.made(name, func() (*fs.Inode, syscall.Errno) { return n.LoopbackNode.Symlink(ctx, target, name, out) })
}

func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if errno := n.ask(ctx, Writes); errno != 0 {
		return nil, errno
	}
	made, errno := n.made(name, func() (*fs.Inode, syscall.Errno) { return n.LoopbackNode.Link(ctx, target, name, out) })
	out.Nlink = n.unsynced.links(out.Ino, out.Nlink)
	return made, errno
}

func (n *node) Unlink(ctx context.Context, name string) syscall.Errno {
	if errno := n.ask(ctx, Writes); errno != 0 {
		return errno
	}
	return n.unsynced.unlink(n.named(name), func() syscall.Errno { return n.LoopbackNode.Unlink(ctx, name) })
}

func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	if errno := n.ask(ctx, Writes); errno != 0 {
		return errno
	}
	return n.unsynced.remove(n.named(name), func() syscall.Errno { return n.LoopbackNode.Rmdir(ctx, name) })
}

func (n *node) Rename(ctx context.Context, name string, parent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	if errno := n.ask(ctx, Writes); errno != 0 {
		return errno
	}
	return n.unsynced.rename(n.named(name), parent.(*node).named(newName), flags&unix.RENAME_EXCHANGE != 0, func() syscall.Errno {
		return n.LoopbackNode.Rename(ctx, name, parent, newName, flags)
	})
}

func (n *node) Setattr(ctx context.Context, h fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if errno := n.ask(ctx, Writes); errno != 0 {
		return errno
	}
	f, open := h.(*file)
	set := func() syscall.Errno {
		if open {
			return f.data.Setattr(ctx, in, out)
		}
		return n.LoopbackNode.Setattr(ctx, nil, in, out)
	}
	errno := syscall.Errno(0)
	if size, ok := in.GetSize(); ok {
		errno = n.unsynced.truncate(f, n.path(), int64(size), set)
	} else {
		errno = set()
	}
	out.Nlink = n.unsynced.links(out.Ino, out.Nlink)
	return errno
}

func (n *node) Getattr(ctx context.Context, h fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	var errno syscall.Errno
	if f, ok := h.(*file); ok {
		errno = f.data.Getattr(ctx, out)
	} else {
		errno = n.LoopbackNode.Getattr(ctx, nil, out)
	}
	out.Nlink = n.unsynced.links(out.Ino, out.Nlink)
	return errno
}

// OpendirHandle lists everything but the probe's directory.
func (n *node) OpendirHandle(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	l := &listing{of: n}
	return l, 0, l.begin()
}

// listing is an open directory, as it was when it was last read from its beginning.
type listing struct {
	of      *node
	entries []fuse.DirEntry
	next    uint64
}

var (
	_ fs.FileReaddirenter = (*listing)(nil)
	_ fs.FileSeekdirer    = (*listing)(nil)
	_ fs.FileFsyncdirer   = (*listing)(nil)
)

func (l *listing) begin() syscall.Errno {
	all, errno := fs.NewLoopbackDirStream(filepath.Join(l.of.RootData.Path, l.of.Path(l.of.Root())))
	if errno != 0 {
		return errno
	}
	defer all.Close()
	l.entries, l.next = nil, 0
	for all.HasNext() {
		entry, errno := all.Next()
		if errno != 0 {
			return errno
		}
		if !l.of.IsRoot() || entry.Name != probeDir && entry.Name != powerDir {
			entry.Off = uint64(len(l.entries) + 1)
			l.entries = append(l.entries, entry)
		}
	}
	return 0
}

func (l *listing) Readdirent(context.Context) (*fuse.DirEntry, syscall.Errno) {
	if l.next >= uint64(len(l.entries)) {
		return nil, 0
	}
	l.next++
	return &l.entries[l.next-1], 0
}

func (l *listing) Seekdir(_ context.Context, off uint64) syscall.Errno {
	if off == 0 {
		return l.begin()
	}
	l.next = off
	return 0
}

func (l *listing) Fsyncdir(ctx context.Context, flags uint32) syscall.Errno {
	return l.of.Fsync(ctx, nil, flags)
}

// file is an open file. It has no descriptor that the kernel could go past this file system with.
type file struct {
	of    *node
	data  *fs.LoopbackFile
	flags uint32
	image *image // of who writes to it
}

var (
	_ fs.FileReader    = (*file)(nil)
	_ fs.FileWriter    = (*file)(nil)
	_ fs.FileAllocater = (*file)(nil)
	_ fs.FileFlusher   = (*file)(nil)
	_ fs.FileLseeker   = (*file)(nil)
	_ fs.FileReleaser  = (*file)(nil)
)

func (f *file) Read(ctx context.Context, buffer []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	if errno := f.of.ask(ctx, Reads); errno != 0 {
		return nil, errno
	}
	return f.data.Read(ctx, buffer, off)
}

func (f *file) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	if errno := f.of.ask(ctx, Writes); errno != 0 {
		return 0, errno
	}
	var n uint32
	errno := f.of.unsynced.write(f, off, off+int64(len(data)), func() (errno syscall.Errno) {
		n, errno = f.data.Write(ctx, data, off)
		return errno
	})
	return n, errno
}

func (f *file) Allocate(ctx context.Context, off, size uint64, mode uint32) syscall.Errno {
	if errno := f.of.ask(ctx, Writes); errno != 0 {
		return errno
	}
	end := off + size
	if mode&(unix.FALLOC_FL_COLLAPSE_RANGE|unix.FALLOC_FL_INSERT_RANGE) != 0 {
		end = math.MaxInt64 // all that follows moves
	}
	return f.of.unsynced.write(f, int64(off), int64(end), func() syscall.Errno { return f.data.Allocate(ctx, off, size, mode) })
}

func (f *file) Flush(ctx context.Context) syscall.Errno { return f.data.Flush(ctx) }

func (f *file) Lseek(ctx context.Context, off uint64, whence uint32) (uint64, syscall.Errno) {
	return f.data.Lseek(ctx, off, whence)
}

func (f *file) Release(ctx context.Context) syscall.Errno {
	f.of.unsynced.leave(f)
	return f.data.Release(ctx)
}

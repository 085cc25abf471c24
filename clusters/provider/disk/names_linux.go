package disk

import (
	"context"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

var (
	_ fs.NodeLookuper       = (*node)(nil)
	_ fs.NodeCopyFileRanger = (*node)(nil)
)

// path is where the node is in the data.
func (n *node) path() string { return filepath.Join(n.RootData.Path, n.Path(n.Root())) }

func (n *node) named(name string) path { return path{n.path(), name} }

// made carries out what makes a new name.
func (n *node) made(name string, do func() (*fs.Inode, syscall.Errno)) (inode *fs.Inode, errno syscall.Errno) {
	errno = n.unsynced.change(func() (errno syscall.Errno) {
		inode, errno = do()
		return errno
	}, n.named(name))
	return inode, errno
}

// Lookup hides the name that a file has in limbo.
func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	found, errno := n.LoopbackNode.Lookup(ctx, name, out)
	if errno == 0 {
		out.Nlink = n.unsynced.links(out.Ino, out.Nlink)
	}
	return found, errno
}

// CopyFileRange leaves it to the kernel to copy by reads and writes, which are seen here.
func (n *node) CopyFileRange(context.Context, fs.FileHandle, uint64, *fs.Inode, fs.FileHandle, uint64, uint64, uint64) (uint32, syscall.Errno) {
	return 0, syscall.ENOSYS
}

// empty truncates an open file, as O_TRUNC does.
func (f *file) empty() syscall.Errno {
	in := &fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{Valid: fuse.FATTR_SIZE}}
	return f.of.unsynced.truncate(f, "", 0, func() syscall.Errno { return f.data.Setattr(context.Background(), in, &fuse.AttrOut{}) })
}

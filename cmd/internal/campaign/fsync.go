package campaign

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// syncTree has all that is in a directory written to the disk, and the directory itself last. Links have no content of their own.
func syncTree(dir string, sync func(name string) error) error {
	var dirs []string
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			dirs = append(dirs, name)
		case entry.Type().IsRegular():
			return sync(name)
		}
		return nil
	})
	for i := len(dirs) - 1; err == nil && i >= 0; i-- { // a parent comes before what it has
		err = sync(dirs[i])
	}
	return err
}

// syncPath has a file, or the entries of a directory, written to the disk. File systems that sync no directories lose nothing by it.
func syncPath(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	err = file.Sync()
	if info, e := file.Stat(); err != nil && e == nil && info.IsDir() &&
		(runtime.GOOS == "windows" || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)) {
		return nil
	}
	return err
}

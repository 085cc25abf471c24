// Package bundle makes a copy of a recorded run that a stranger may have: one folder and one archive, without secrets, host names,
// addresses, home directories and names of users.
package bundle

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lockcheck/reports/rundir"
)

// Copy writes the recording of a run, and the logs of its nodes, into the folder `to`, which is there and empty. Everything that can be made from
// the recording is left out: judging the copy makes it again, from what is hidden already.
func Copy(from *rundir.Dir, to string, h *Hider) error {
	for _, name := range []string{rundir.PlanFile, rundir.HistoryFile, rundir.ResourceFile} {
		if err := copyFile(filepath.Join(from.RunPath(), name), filepath.Join(to, name), h); err != nil {
			return err
		}
	}
	return filepath.WalkDir(filepath.Join(from.RunPath(), rundir.NodesFolder), func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !entry.Type().IsRegular() || filepath.Ext(path) != ".log" { // a link could lead out of the run
			return err
		}
		rel, err := filepath.Rel(from.RunPath(), path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, h.Name(rel))
		return errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), copyFile(path, target, h))
	})
}

func copyFile(from, to string, h *Hider) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	lines, shown := bufio.NewReader(in), bufio.NewWriter(out)
	for inKey := false; ; {
		line, end := lines.ReadBytes('\n')
		if _, err := shown.Write(h.Line(line, &inKey)); err != nil {
			return err
		}
		if end == io.EOF {
			return shown.Flush()
		}
		if end != nil {
			return end
		}
	}
}

// Pack writes a folder as one archive (tar, compressed with gzip), without owners.
func Pack(w io.Writer, folder string) error {
	zipped := gzip.NewWriter(w)
	packed := tar.NewWriter(zipped)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(filepath.Dir(folder), path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if err := packed.WriteHeader(&tar.Header{Name: filepath.ToSlash(rel), Mode: 0o644, Size: info.Size(), ModTime: info.ModTime().UTC().Truncate(1e9)}); err != nil {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.Copy(packed, file)
		return err
	})
	return errors.Join(err, packed.Close(), zipped.Close())
}

// Files lists the files of a folder, each with its size in bytes.
func Files(folder string) (names []string, bytes int64, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			bytes += info.Size()
			names = append(names, strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(folder)+"/"))
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("cannot list what is in the bundle: %w", err)
	}
	return names, bytes, err
}

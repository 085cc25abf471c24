package campaign

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// heavy is what of a run that passed is left out unless all recordings are kept: the recording itself, and the servers' logs.
func heavy(name string) bool {
	switch path.Base(name) {
	case "history.jsonl", "resource.jsonl":
		return true
	}
	return strings.Contains("/"+name, "/nodes/")
}

// passed reports whether the run in a directory passed.
func passed(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "results.json"))
	var results struct{ Verdict string }
	return err == nil && json.Unmarshal(text, &results) == nil && results.Verdict == "pass"
}

// pack writes the archive of a shard: its Outcome first, then its directory. Links are left out but those within a directory.
func pack(w io.Writer, dir string, all bool, outcome []byte) error {
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	if err := archive.WriteHeader(&tar.Header{Name: OutcomeFile, Mode: 0o644, Size: int64(len(outcome))}); err != nil {
		return err
	}
	if _, err := archive.Write(outcome); err != nil {
		return err
	}
	light := map[string]bool{} // directories of runs that passed
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == dir {
			return nil // the work left nothing
		}
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		inside := path.Join(ResultsDir, filepath.ToSlash(relative))
		if entry.IsDir() {
			light[name] = !all && (light[filepath.Dir(name)] || passed(name))
			if light[name] && heavy(inside+"/x") {
				return fs.SkipDir
			}
			return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: inside + "/", Mode: 0o755})
		}
		if light[filepath.Dir(name)] && heavy(inside) {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		header, err := tar.FileInfoHeader(info, "")
		switch {
		case err != nil:
			return nil // a socket
		case info.Mode()&fs.ModeSymlink != 0:
			if header.Linkname, err = os.Readlink(name); err != nil || !siblingName(header.Linkname) {
				return nil
			}
		case !info.Mode().IsRegular():
			return nil
		}
		*header = tar.Header{Typeflag: header.Typeflag, Name: inside, Linkname: header.Linkname, Mode: 0o644, Size: header.Size, ModTime: header.ModTime}
		if err := archive.WriteHeader(header); err != nil || header.Typeflag == tar.TypeSymlink {
			return err
		}
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = io.CopyN(archive, file, header.Size)
		return err
	})
	if err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zipped.Close()
}

// siblingName reports whether a link leads to something in its own directory.
func siblingName(target string) bool {
	return filepath.IsLocal(target) && target != "." && target == filepath.Base(target)
}

// What one shard may write here: nothing that it says is believed.
const (
	maxShard   = 32 << 30 // bytes
	maxEntries = 1 << 20
	maxFile    = 4 << 30  // bytes; recordings are the largest
	maxJSON    = 64 << 20 // of a file that is read whole: Outcome and comparison
	maxPadding = 1 << 20  // bytes after the archive's end
)

// unpackShard writes an archive into a directory, which is made. Only a whole archive is no error: its checksum is at its end. Nothing is
// written outside of the directory, whatever the archive says.
func unpackShard(r io.Reader, dir string) error {
	zipped, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	archive := tar.NewReader(zipped)
	var written int64
	for entries := 0; ; entries++ {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if written += header.Size; written > maxShard || header.Size > maxFile || entries >= maxEntries {
			return fmt.Errorf("the results of the shard are larger than they can be: at %s, %d files and %d bytes", clip(header.Name), entries+1, written)
		}
		if name := path.Base(header.Name); strings.HasSuffix(name, ".json") && header.Size > maxJSON {
			return fmt.Errorf("%s in the results of the shard has %d bytes, more than %d", clip(header.Name), header.Size, maxJSON)
		}
		if err := unpackEntry(root, header, archive); err != nil {
			return err
		}
	}
	// To the checksum. What is packed can go on for ever.
	if n, err := io.Copy(io.Discard, io.LimitReader(zipped, maxPadding+1)); err != nil || n <= maxPadding {
		return err
	}
	return errors.New("the archive goes on after its end")
}

func unpackEntry(root *os.Root, header *tar.Header, content io.Reader) error {
	name := filepath.FromSlash(strings.TrimSuffix(header.Name, "/"))
	switch header.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeSymlink:
		if !siblingName(header.Linkname) {
			return fmt.Errorf("the archive has a link to %q", header.Linkname)
		}
		return root.Symlink(header.Linkname, name)
	case tar.TypeReg:
		file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		return errors.Join(err, file.Close())
	}
	return fmt.Errorf("the archive has %q of an unknown kind", header.Name)
}

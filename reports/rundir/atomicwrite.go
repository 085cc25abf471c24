package rundir

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// WriteAtomically replaces the file at a path by what write produces, or leaves it as it was: no reader ever finds half of it.
func WriteAtomically(path string, write func(w io.Writer) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	buffered := bufio.NewWriter(file)
	err = errors.Join(write(buffered), buffered.Flush(), file.Chmod(0o644), file.Close())
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

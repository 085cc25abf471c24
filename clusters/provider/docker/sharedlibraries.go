package docker

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// defaultLibraries are the directories in which loaders look.
var defaultLibraries = []string{"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib", "/lib32", "/usr/lib32"}

// librariesOf lists the loader that a program names, and all libraries that it and they need; none for a static program.
// go run and go build use cgo where they find a C compiler, and then the program is not static.
func librariesOf(program string) ([]string, error) {
	file, err := elf.Open(program)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	defer file.Close()
	loader, err := interpreter(file)
	if err != nil || loader == "" {
		return nil, err
	}
	found := []string{loader}
	dirs := searchPath(file, loader)
	wanted, err := file.ImportedLibraries()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for len(wanted) > 0 {
		name := wanted[0]
		wanted = wanted[1:]
		if seen[name] || name == filepath.Base(loader) {
			continue
		}
		seen[name] = true
		library, more, err := findLibrary(name, dirs, file)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(found, library) {
			found = append(found, library)
		}
		wanted = append(wanted, more...)
	}
	return found, nil
}

// interpreter is the loader that a program names, "" for a static one.
func interpreter(file *elf.File) (string, error) {
	for _, p := range file.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		name, err := io.ReadAll(p.Open())
		if err != nil {
			return "", err
		}
		loader := strings.TrimRight(string(name), "\x00")
		if _, err := os.Stat(loader); err != nil {
			return "", fmt.Errorf("its loader is not there: %w", err)
		}
		return loader, nil
	}
	return "", nil
}

// searchPath lists where this program's loader looks: what the program says, the system's configuration, the usual
// directories, those of the architecture among them, and the loader's own.
func searchPath(file *elf.File, loader string) []string {
	var dirs []string
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		values, _ := file.DynString(tag)
		for _, value := range values {
			for _, dir := range strings.Split(value, ":") {
				if filepath.IsAbs(dir) { // $ORIGIN means nothing for /proc/self/exe
					dirs = append(dirs, dir)
				}
			}
		}
	}
	configs, _ := filepath.Glob("/etc/ld.so.conf.d/*.conf")
	for _, config := range append([]string{"/etc/ld.so.conf"}, configs...) {
		dirs = append(dirs, linesOf(config)...)
	}
	for _, dir := range defaultLibraries {
		multiarch, _ := filepath.Glob(dir + "/*-linux-*")
		dirs = append(append(dirs, dir), multiarch...)
	}
	return append(dirs, filepath.Dir(loader))
}

func linesOf(name string) []string {
	file, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	var lines []string
	for scan := bufio.NewScanner(file); scan.Scan(); {
		if line := strings.TrimSpace(scan.Text()); filepath.IsAbs(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// findLibrary finds a library for the same machine as the program, and what it needs in turn.
func findLibrary(name string, dirs []string, program *elf.File) (path string, needs []string, err error) {
	tried := []error{fmt.Errorf("the library %s, which it needs, is in none of %s", name, strings.Join(dirs, ", "))}
	for _, dir := range dirs {
		candidate := filepath.Join(dir, name)
		file, err := elf.Open(candidate)
		if err != nil {
			continue
		}
		fits := file.Machine == program.Machine && file.Class == program.Class
		needs, err := file.ImportedLibraries()
		file.Close()
		if fits && err == nil {
			return candidate, needs, nil
		}
		tried = append(tried, fmt.Errorf("%s is for another machine", candidate))
	}
	return "", nil, errors.Join(tried...)
}

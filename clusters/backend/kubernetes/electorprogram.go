package kubernetes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"lockcheck/clusters"
)

// The lock clients are a program of their own (folder elector, a module of its own), because client-go brings every API group of
// Kubernetes: some two minutes of a processor's time to compile, also for those who never use it. It is built from lockcheck's source
// when it is first asked for, and kept under a name made from the content of that source, so that another version is another program.
//
// The source is not embedded. It is three folders of lockcheck beside the module's own, and go:embed enters no folder of another
// module: every one of these would need a file for that alone. It is found where the Go toolchain finds the module lockcheck from the
// working directory, as the provider docker finds it: in a checkout, or in a module that requires it.

// EnvClient names the lock clients' program, built before.
const EnvClient = "LOCKCHECK_KUBERNETES_CLIENT"

const (
	module = "lockcheck"
	folder = "clusters/backend/kubernetes/elector"
)

// builtFrom are the folders of lockcheck whose content the program is made of.
var builtFrom = []string{folder, "clusters/client", "clusters/resource", "checker/history", "checker/history/flatjson"}

// elector is the lock clients' program.
type elector struct{}

var _ clusters.ClientProgram = elector{}

// Obtain finds the program, or builds it.
func (elector) Obtain(ctx context.Context, arch string, progress io.Writer) (string, error) {
	if path, err := named(); path != "" || err != nil {
		return path, err
	}
	source, path, err := kept(ctx, arch)
	if err == nil && !isThere(path) {
		fmt.Fprintf(progress, "%s: building the lock clients in %s (minutes the first time)\n", Name, source)
		err = build(ctx, source, path, arch)
	}
	if err != nil {
		return "", howToBuild(err)
	}
	return path, nil
}

// Describe says where it is, or where it would be built.
func (elector) Describe(ctx context.Context, arch string) (string, error) {
	if path, err := named(); path != "" || err != nil {
		return path, err
	}
	source, path, err := kept(ctx, arch)
	switch {
	case err != nil:
		return "", howToBuild(err)
	case isThere(path):
		return path, nil
	}
	return "not built yet: the first run builds it from " + source, nil
}

// named is the program that the user has named, "" if none is.
func named() (string, error) {
	program := os.Getenv(EnvClient)
	if program == "" {
		return "", nil
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", fmt.Errorf("%w: %s=%s: %w", clusters.ErrUnavailable, EnvClient, program, err)
	}
	return filepath.Abs(path)
}

func howToBuild(err error) error {
	return fmt.Errorf("%w: it is a program of its own, on client-go, which lockcheck builds: %w; build it in lockcheck's checkout "+
		"(cd %s && CGO_ENABLED=0 go build -o /some/where/elector), and set %s to it", clusters.ErrUnavailable, err, folder, EnvClient)
}

// kept is the folder of the program's source, and where the program that is built from it is kept.
func kept(ctx context.Context, arch string) (source, path string, err error) {
	checkout, err := sourceHere(ctx)
	if err != nil {
		return "", "", err
	}
	key, err := keyOf(checkout)
	if err != nil {
		return "", "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", fmt.Errorf("there is no place to keep it: %w", err)
	}
	return filepath.Join(checkout, folder), filepath.Join(cache, "lockcheck", Name+"-client-"+key, "elector-"+arch), nil
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// sourceHere is the folder of lockcheck's source.
func sourceHere(ctx context.Context) (string, error) {
	list, err := goTool(ctx, "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return "", err
	}
	dir, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("lockcheck's source is not found from the working directory (%s: %w)", strings.Join(list.Args, " "), withWords(err))
	}
	return strings.TrimSpace(string(dir)), nil
}

func goTool(ctx context.Context, args ...string) (*exec.Cmd, error) {
	tool, err := exec.LookPath("go")
	if err != nil {
		return nil, fmt.Errorf("there is no Go toolchain: %w", err)
	}
	return exec.CommandContext(ctx, tool, args...), nil
}

// withWords adds what a command printed on standard error.
func withWords(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%w: %.1000s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}

// keyOf names the content of the program's source.
func keyOf(source string) (string, error) {
	sum := sha256.New()
	for _, dir := range builtFrom {
		files, err := os.ReadDir(filepath.Join(source, dir))
		if err != nil {
			return "", err
		}
		for _, f := range files {
			if !slices.Contains([]string{".go", ".mod", ".sum"}, filepath.Ext(f.Name())) || strings.HasSuffix(f.Name(), "_test.go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(source, dir, f.Name()))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(sum, "%s/%s %d\n%s", dir, f.Name(), len(text), text)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:12], nil
}

// build leaves a whole program at the path or none. Where several processes want it at the same time one of them builds it.
func build(ctx context.Context, dir, path, arch string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("there is no place to keep it: %w", err)
	}
	release, err := lockBuild(ctx, filepath.Dir(path))
	if err != nil {
		return err
	}
	defer release()
	if isThere(path) { // another process has built it while this one waited
		return nil
	}
	made, err := os.MkdirTemp(filepath.Dir(path), "building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	program := filepath.Join(made, "elector")
	build, err := goTool(ctx, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, ".")
	if err != nil {
		return err
	}
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
	if _, err := build.Output(); err != nil {
		return fmt.Errorf("%s in %s: %w", strings.Join(build.Args, " "), dir, withWords(err))
	}
	return os.Rename(program, path)
}

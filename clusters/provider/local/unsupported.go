//go:build !linux

package local

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"

	"lockcheck/clusters"
)

// refused is the answer of everything here where there is no Linux.
func refused() error {
	return fmt.Errorf("%w: the local provider needs Linux, and this is %s; use %s", clusters.ErrUnavailable, runtime.GOOS, clusters.ChooseDocker)
}

// Available is an error where there is no Linux.
func Available() error { return refused() }

// Provider makes hosts of this machine's own processes, on Linux.
type Provider struct {
	ServerPaths clusters.ServerPaths // of server programs
}

// Name is "local".
func (*Provider) Name() string { return clusters.Local }

// Open is refused.
func (*Provider) Open(context.Context, clusters.SiteSpec) (clusters.Site, error) {
	return nil, refused()
}

// Enter is refused.
func Enter(...string) (*Provider, int, error) { return nil, 0, refused() }

// Entry is what a program needs of what stays outside.
type Entry struct{ Keep, Places []string }

// Enter is refused.
func (Entry) Enter() (*Provider, int, error) { return nil, 0, refused() }

// Exit ends the program with code.
func Exit(code int) { os.Exit(code) }

// Abilities are not tried.
func Abilities(context.Context) ([]Ability, error) { return nil, refused() }

// TellAbilities is refused.
func TellAbilities(bool, io.Writer, ...Trial) (bool, int, error) { return false, 0, refused() }

// Janitor is refused: there is nothing to clean up behind.
func Janitor([]string) error { return refused() }

// Sweep finds nothing: no local run can have left something.
func Sweep() (removed []string, err error) { return nil, nil }

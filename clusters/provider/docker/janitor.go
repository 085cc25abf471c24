package docker

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/docker/docker/client"
)

// JanitorCommand is the hidden command of lockcheck that calls Janitor with the arguments that follow.
const JanitorCommand = "docker-janitor"

// janitorTimeout bounds how long a janitor looks for what is left.
const janitorTimeout = 2 * time.Minute

// allRemoved is what the harness tells its janitor who has nothing to do.
const allRemoved = "removed"

// janitor is the harness's end of the process that removes what its run made, should the harness be killed. Containers end by
// themselves then; networks and volumes do not, and nothing inside of them reaches the engine.
type janitor struct {
	cmd      *exec.Cmd
	lifeline io.WriteCloser // its standard input; ends with the harness
}

// startJanitor starts the janitor of a run.
func startJanitor(run, owner string) (*janitor, error) {
	path, err := ownPath()
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: []string{"lockcheck", JanitorCommand, "--run", run, "--owner", owner}, Dir: "/"}
	cmd.SysProcAttr = ownSession()
	lifeline, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start the process that cleans up behind a killed run: %w", err)
	}
	return &janitor{cmd, lifeline}, nil
}

// dismiss ends the janitor. One that is not told that all was removed tries it, and is not waited for.
func (j *janitor) dismiss(removed bool) {
	if j == nil {
		return
	}
	if removed {
		_, _ = io.WriteString(j.lifeline, allRemoved)
	}
	j.lifeline.Close()
	if removed {
		_ = j.cmd.Wait()
	}
}

// Janitor waits for its standard input to end, which it does when the harness has ended however it ended. Then it removes what
// the run made, unless it was told that this was done.
func Janitor(args []string) error {
	flags := flag.NewFlagSet(JanitorCommand, flag.ContinueOnError)
	run := flags.String("run", "", "the run")
	owner := flags.String("owner", "", "its harness")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *run == "" || *owner == "" {
		return errors.New(JanitorCommand + ": --run and --owner have to be named")
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	if told, _ := io.ReadAll(os.Stdin); string(told) == allRemoved {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), janitorTimeout)
	defer cancel()
	engine, err := connect(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	return removeLate(ctx, engine, *run, *owner)
}

// removeLate removes what a run made until two looks in a row found nothing: the engine may be at work still on what the harness
// had asked for.
func removeLate(ctx context.Context, engine *client.Client, run, owner string) error {
	for empty := 0; ; {
		removed, err := removeRun(ctx, engine, run, owner)
		if empty++; err != nil || len(removed) > 0 {
			empty = 0
		}
		if empty == 2 || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(lateCreation):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

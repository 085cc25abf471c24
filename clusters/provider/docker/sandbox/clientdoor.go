//go:build linux

package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/hashicorp/yamux"
	"golang.org/x/sys/unix"

	"lockcheck/clusters/provider/procs"
)

// A lock client from an image of the user's is a container's program, not a child of the sandbox. All the same it gets its pipes from
// here, so that what it has printed can be counted to the byte once it is stopped, as a child's (countedoutput.go): the way through the engine has
// buffers that cannot be looked into.
//
//	sandbox ── listens on a socket of the host's network namespace, whose name is no file
//	   │ pipes  ▲
//	   ▼        │ connects
//	lockcheck enter SOCKET PROGRAM ...   first process of the container, as the image's user
//	   └ exec ──▶ PROGRAM ...            the same process, without a trace of lockcheck

// doorTimeout bounds how long a container may take from the open door to its program.
const doorTimeout = time.Minute

// admit hands a container's program its pipes, and then answers requests about the container until the stream ends. It answers twice
// before: once the door is open, and once the program runs, or could not be run.
func (b *sandbox) admit(stream *yamux.Stream, header Header) error {
	laid := b.parts(header.ID)
	output, stdio := <-laid.output, <-laid.stdio
	b.mu.Lock()
	delete(b.waiting, header.ID)
	b.mu.Unlock()
	answers := &lines{to: stream}
	refuse := func(err error) error {
		output.Close()
		stdio.Close()
		answers.write(Answer{Error: err.Error()})
		return nil
	}
	door, err := net.ListenUnix("unix", &net.UnixAddr{Name: header.Door, Net: "unix"})
	if err != nil {
		return refuse(err)
	}
	defer door.Close()
	pipes, err := newPipes(true)
	if err != nil {
		return refuse(err)
	}
	answers.write(Answer{})
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer door.Close() // the harness has given up
		obey(stream, answers, func(ask Request) Answer {
			return carryOut(ask.Do, procs.Container(header.Container), pipes.printed)
		})
	}()
	err = letIn(door, procs.Container(header.Container), pipes)
	pipes.closeTheirs()
	if err != nil {
		pipes.closeOurs()
		return refuse(err)
	}
	pipes.pass(stdio, output)
	answers.write(Answer{})
	<-over
	pipes.awaitOutput()
	return nil
}

// letIn waits for a program at the door, and returns once it has its pipes and has become what it is to be.
func letIn(door *net.UnixListener, expected procs.Selection, pipes *pipes) error {
	guest, err := awaitGuest(door, expected)
	if err != nil {
		return err
	}
	defer guest.Close()
	_ = guest.SetDeadline(time.Now().Add(doorTimeout))
	if err := pipes.openToAll(); err != nil {
		return err
	}
	rights := unix.UnixRights(int(pipes.stdin.Fd()), int(pipes.stdout.Fd()), int(pipes.stderr.Fd()))
	if _, _, err := guest.WriteMsgUnix([]byte{'\n'}, rights, nil); err != nil {
		return fmt.Errorf("handing over its pipes: %w", err)
	}
	// The other end is closed by exec.
	said, err := io.ReadAll(guest)
	if err != nil {
		return fmt.Errorf("it did not say whether its program runs: %w", err)
	}
	if len(said) == 0 {
		return nil
	}
	var answer Answer
	if err := json.Unmarshal(said, &answer); err != nil {
		return fmt.Errorf("it said %q: %w", said, err)
	}
	return errors.New(answer.Error)
}

// awaitGuest is the first connection of a process that is expected. The socket is seen from all of the host's network namespace, in
// which a client that ran before may have left a process: that one gets nothing.
func awaitGuest(door *net.UnixListener, expected procs.Selection) (*net.UnixConn, error) {
	_ = door.SetDeadline(time.Now().Add(doorTimeout))
	for {
		conn, err := door.AcceptUnix()
		if err != nil {
			return nil, err
		}
		peer, err := peerOf(conn)
		if err == nil {
			var pids []int
			if pids, err = expected(); err == nil && slices.Contains(pids, peer) {
				return conn, nil
			}
		}
		conn.Close()
		if err != nil {
			return nil, fmt.Errorf("seeing who is at the door: %w", err)
		}
	}
}

// peerOf is the process that connected, as this PID namespace numbers it; 0 if it is in another.
func peerOf(conn *net.UnixConn) (pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	failed := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = cmp.Or(failed, err); err != nil {
		return 0, err
	}
	return int(peer.Pid), nil
}

// Enter takes the pipes that wait behind the door and becomes a program: DOOR PROGRAM [ARGUMENT...]. It returns only with an error,
// of which the sandbox was told.
func Enter(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("%s takes a socket, a program and its arguments, not %q", EnterCommand, args)
	}
	ctx, cancel := context.WithTimeout(ctx, doorTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", args[0])
	if err != nil {
		return err
	}
	defer conn.Close()
	if err = takePipes(conn.(*net.UnixConn)); err == nil {
		err = become(args[1:])
	}
	return errors.Join(err, WriteLine(conn, Answer{Error: err.Error()}))
}

// takePipes makes what is handed over the standard streams.
func takePipes(conn *net.UnixConn) error {
	const count = 3
	rights := make([]byte, unix.CmsgSpace(count*4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return fmt.Errorf("the sandbox handed over %d sets of pipes: %w", len(messages), err)
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(files) != count {
		return fmt.Errorf("the sandbox handed over %d pipes: %w", len(files), err)
	}
	for stream, file := range files {
		if err := unix.Dup3(file, stream, 0); err != nil {
			return err
		}
		_ = unix.Close(file)
	}
	return nil
}

// become is exec, which looks for the program as the engine would have.
func become(command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	return &os.PathError{Op: "exec", Path: path, Err: unix.Exec(path, command, os.Environ())}
}

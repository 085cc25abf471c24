// Package sandbox is the first process of a host's container under Docker, and how the harness speaks with it.
//
// The container holds what a host is: a network namespace with an address, and a PID namespace. The sandbox starts
// clients and the resource as its children; a server's container joins both namespaces, so that the sandbox sees its
// processes, stops them and reads them back without asking the engine, with any image of the server.
//
//	harness ── engine ── stdin, stdout of the container ── sandbox (PID 1)
//	   │ one stream a process, for its pipes, its log, its requests      ├── lockcheck client …    no capabilities
//	   └ one stream a connection (Site.Dial)                             ├── lockcheck agent       faults
//	                                                                     └┄┄ redis-server          of another container
//
// When the harness ends, however it ends, the engine closes the sandbox's standard input; the sandbox ends; and with the
// first process of a PID namespace the kernel kills all others in it, stopped ones too.
package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/yamux"
)

// Command is the name of the hidden command that is the sandbox.
const Command = "sandbox"

// EnterCommand names the role of the first process of a lock client's container, until it becomes the image's program.
const EnterCommand = "enter"

// HearTimeout ends a sandbox that the harness does not speak to once it runs. To start a container and to speak to it takes a busy engine
// some seconds.
const HearTimeout = time.Minute

// writeTimeout ends a session in which nothing could be written for so long.
const writeTimeout = 2 * time.Minute

// Header is the first line of a stream. It says what the stream is for.
type Header struct {
	Kind Kind `json:"kind"`
	// ID is the process's, chosen by the harness: its three streams find each other by it.
	ID string `json:"id,omitempty"`
	// Spec is of the process to start.
	Spec *Spec `json:"spec,omitempty"`
	// Container is the full id of the container that a Container or Admit stream is about.
	Container string `json:"container,omitempty"`
	// Door is the socket at which the program of an Admit stream's container is let in.
	Door string `json:"door,omitempty"`
	// Address is where a Dial stream leads to, where a Listen stream listens, and what a Lead stream leads to the host at Via.
	Network string `json:"network,omitempty"`
	Address string `json:"address,omitempty"`
	Via     string `json:"via,omitempty"`
}

// Kind is what a stream is for.
type Kind string

// The kinds of streams.
const (
	// Start starts a process; its stream then takes requests about it, and tells how it ended.
	Start Kind = "start"
	// Stdio is what a process reads and prints. Output is the standard output of a process without pipes and
	// standard error.
	Stdio  Kind = "stdio"
	Output Kind = "output"
	// Container takes requests about all processes of a container that shares the PID namespace.
	Container Kind = "container"
	// Admit waits for the program of such a container, which gets its pipes from the sandbox; the stream then takes requests about it.
	Admit Kind = "admit"
	// Dial is a connection to an address, once the answer has said that it is made.
	Dial Kind = "dial"
	// Listen listens until its stream ends, once the answer has said so; Accept, of the same ID, is one connection that came in (a
	// Carried), once the answer has said that it did.
	Listen Kind = "listen"
	Accept Kind = "accept"
	// Shut lets nothing lead from the host to the engine's machine, whose address on the run's network is given.
	Shut Kind = "shut"
	// Lead lets an address from outside of the run's network lead to a host that relays.
	Lead Kind = "lead"
)

// Spec is a process to start: this program again, or another of the image.
type Spec struct {
	Program string   `json:"program,omitempty"` // its path; "" for this one
	Args    []string `json:"args"`
	Env     []string `json:"env,omitempty"`
	// Pipes asks for standard input and output as a Stdio stream.
	Pipes bool `json:"pipes,omitempty"`
	// Capabilities leaves the process the capabilities that the container has. Without it, it has none.
	Capabilities bool `json:"capabilities,omitempty"`
}

// Request asks for something to be done to the processes that the stream is about.
type Request struct {
	Do Verb `json:"do"`
}

// Verb is what can be asked for.
type Verb string

// The verbs.
const (
	Pause  Verb = "pause"
	Resume Verb = "resume"
	Kill   Verb = "kill"
	// Quit asks a process to end in good order, by SIGTERM. It is answered at once. Of a container the engine is asked instead.
	Quit Verb = "quit"
)

// Answer is the answer to a header or to a request; or, with Ended, the news that the process has ended.
type Answer struct {
	Do    Verb   `json:"do,omitempty"`
	PID   int    `json:"pid,omitempty"` // of a process just started, in the host's PID namespace
	Error string `json:"error,omitempty"`
	// Printed is how many bytes the process has printed on standard output by now, whether they have been passed on yet
	// or not. After Pause nothing is added to them until Resume.
	Printed int64  `json:"printed,omitempty"`
	Ended   bool   `json:"ended,omitempty"`
	How     string `json:"how,omitempty"` // "exit status 3"; "" for exit code 0
}

// NewSession makes the harness's end of the conversation from the container's standard input and output.
func NewSession(conn io.ReadWriteCloser) (*yamux.Session, error) {
	return yamux.Client(conn, config())
}

// config suits a connection through the engine, which is as alive as its two ends: time proves nothing. A harness whose
// machine was frozen for a minute finds everything as it left it.
func config() *yamux.Config {
	c := yamux.DefaultConfig()
	c.EnableKeepAlive = false
	c.StreamOpenTimeout, c.StreamCloseTimeout = 0, 0
	c.ConnectionWriteTimeout = writeTimeout
	c.LogOutput = io.Discard // what went wrong is in the errors
	return c
}

// maxLine bounds a line of the conversation.
const maxLine = 1 << 20

// WriteLine writes a value as one line.
func WriteLine(to io.Writer, value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = to.Write(append(line, '\n'))
	return err
}

// ReadLine reads one line, and not a byte beyond it, which belongs to the one that the stream is passed on to.
func ReadLine(from io.Reader, value any) error {
	var line []byte
	one := make([]byte, 1)
	for {
		if _, err := io.ReadFull(from, one); err != nil {
			return err
		}
		if one[0] == '\n' {
			break
		}
		if line = append(line, one[0]); len(line) > maxLine {
			return errors.New("a line without an end")
		}
	}
	if err := json.Unmarshal(line, value); err != nil {
		return fmt.Errorf("%q: %w", line, err)
	}
	return nil
}

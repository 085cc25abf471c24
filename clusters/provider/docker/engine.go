package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"

	"lockcheck/clusters"
)

// oldestAPI is the engine's API that everything here works with (Docker 20.10).
const oldestAPI = "1.41"

// pingTimeout is how long an engine may take to answer at all.
const pingTimeout = 5 * time.Second

// infoTimeout is how long one that answers may take to describe itself, which means counting all its containers and images.
const infoTimeout = 30 * time.Second

// connect finds the engine as the docker command does: DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH, else the
// default socket; except that it does not know the docker command's contexts.
func connect(ctx context.Context) (*client.Client, error) {
	if host := os.Getenv(client.EnvOverrideHost); strings.HasPrefix(host, "ssh://") {
		return nil, fmt.Errorf("%w: DOCKER_HOST=%s: lockcheck does not speak with engines over ssh: let ssh forward the engine's socket "+
			"(ssh -nNT -L $HOME/engine.sock:/var/run/docker.sock HOST) and set DOCKER_HOST=unix://$HOME/engine.sock, or use %s",
			clusters.ErrUnavailable, host, clusters.ChooseLocal)
	}
	engine, err := client.NewClientWithOpts(client.FromEnv, client.WithAPIVersionNegotiation())
	if err != nil {
		return nil, fmt.Errorf("%w: DOCKER_HOST=%s: %w; point it to an engine (unix:///var/run/docker.sock, tcp://HOST:PORT), or use %s",
			clusters.ErrUnavailable, os.Getenv(client.EnvOverrideHost), err, clusters.ChooseLocal)
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	answer, err := engine.Ping(ctx)
	if err != nil {
		engine.Close()
		return nil, noEngine(engine, err)
	}
	engine.NegotiateAPIVersionPing(answer)
	if version := engine.ClientVersion(); versions.LessThan(version, oldestAPI) {
		engine.Close()
		return nil, fmt.Errorf("%w: the container engine at %s speaks API %s; lockcheck needs %s (Docker 20.10) or newer: update the engine, or use %s",
			clusters.ErrUnavailable, where(engine), version, oldestAPI, clusters.ChooseLocal)
	}
	return engine, nil
}

// noneHere reports that no engine is named and that there is none in the default place, or one that is not for this user.
func noneHere() bool {
	path, isSocket := strings.CutPrefix(client.DefaultDockerHost, "unix://")
	return os.Getenv(client.EnvOverrideHost) == "" && isSocket && !mayUse(path)
}

func noEngine(engine *client.Client, err error) error {
	if strings.Contains(err.Error(), "permission denied") { // the library keeps no more of the system's error than its words
		return fmt.Errorf("%w: this user may not use the container engine at %s: %w; join the group that its socket belongs to "+
			"(usermod -aG docker USER, then log in again), run as root, or use %s", clusters.ErrUnavailable, where(engine), err, clusters.ChooseLocal)
	}
	return fmt.Errorf("%w: no container engine answers at %s: %w; start Docker (systemctl start docker), install it "+
		"(https://docs.docker.com/engine/install), point DOCKER_HOST to another engine, or use %s%s",
		clusters.ErrUnavailable, where(engine), err, clusters.ChooseLocal, contextHint())
}

// contextHint is for users whose docker command finds its engine by a context.
func contextHint() string {
	name := os.Getenv("DOCKER_CONTEXT")
	if name == "" {
		name = currentContext()
	}
	if os.Getenv(client.EnvOverrideHost) != "" || name == "" || name == "default" {
		return ""
	}
	return fmt.Sprintf("; contexts of the docker command are not looked at: to use the engine of %q, "+
		"export DOCKER_HOST=$(docker context inspect -f '{{.Endpoints.docker.Host}}' %s)", name, name)
}

// currentContext is the one that the docker command's configuration names, "" for none.
func currentContext() string {
	dir := os.Getenv("DOCKER_CONFIG")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".docker")
	}
	var chosen struct{ CurrentContext string }
	text, err := os.ReadFile(filepath.Join(dir, "config.json"))
	if err != nil || json.Unmarshal(text, &chosen) != nil {
		return ""
	}
	return chosen.CurrentContext
}

// refused marks what the engine would not do as unavailable: for any reason, it is no mistake of ours.
func refused(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, clusters.ErrUsage) || errors.Is(err, clusters.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", clusters.ErrUnavailable, err)
}

func where(engine *client.Client) string {
	if os.Getenv(client.EnvOverrideHost) == "" {
		return engine.DaemonHost() + " (DOCKER_HOST is not set)"
	}
	return engine.DaemonHost() + " (DOCKER_HOST)"
}

// facts are what has to be known of the machine that the engine runs on.
type facts struct {
	arch string
	cpus int
}

// goArch are Go's names for what the kernel calls a machine.
var goArch = map[string]string{"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "ppc64le": "ppc64le", "s390x": "s390x", "riscv64": "riscv64"}

// learn asks what the engine's machine is, and refuses one for which there is no program for the clients.
func learn(ctx context.Context, engine *client.Client) (facts, error) {
	ctx, cancel := context.WithTimeout(ctx, infoTimeout)
	defer cancel()
	info, err := engine.Info(ctx)
	if err != nil {
		return facts{}, noEngine(engine, err)
	}
	f := facts{arch: goArch[info.Architecture], cpus: info.NCPU}
	if f.arch == "" {
		f.arch = info.Architecture
	}
	if info.OSType != "linux" {
		return f, fmt.Errorf("%w: the engine at %s runs %s containers; lockcheck needs Linux ones", clusters.ErrUnavailable, where(engine), info.OSType)
	}
	if err := programObtainable(ctx, f.arch); err != nil {
		return f, fmt.Errorf("the engine at %s runs on linux/%s: %w", where(engine), f.arch, err)
	}
	return f, nil
}

// Available says why the software cannot run in containers here, before anything is made. Whether an image can be pulled
// is not tried: that takes minutes.
func Available(ctx context.Context) error {
	engine, err := connect(ctx)
	if err != nil {
		return err
	}
	defer engine.Close()
	_, err = learn(ctx, engine)
	return err
}

// lost explains a connection that broke: because the engine went away, or for the reason given.
func lost(engine *client.Client, what string, reason error) error {
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	if _, err := engine.Ping(ctx); err != nil {
		return wentAway(engine, what, err)
	}
	return reason
}

func wentAway(engine *client.Client, what string, err error) error {
	return fmt.Errorf("%w: the container engine at %s, or the way to it, went away, and with it %s (%w)", clusters.ErrUnavailable, where(engine), what, err)
}

// noticeTime is how long an engine may need to say that a container has ended: what its processes had open is closed before, and it tidies up
// first.
const noticeTime = 15 * time.Second

// exitOf is the exit status with which a container has ended, as the engine remembers it of the latest; "" if it tells of no end.
func exitOf(engine *client.Client, id string) (status string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), noticeTime)
	defer cancel()
	died, err := firstEvent(ctx, engine, id, events.ActionDie)
	if err != nil && ctx.Err() != nil {
		return "", nil
	}
	return died.Actor.Attributes["exitCode"], err
}

// firstEvent is the first of these that happens to a container, or has happened: the engine remembers the latest, of removed ones, too.
func firstEvent(ctx context.Context, engine *client.Client, id string, actions ...events.Action) (events.Message, error) {
	what := filters.NewArgs(filters.Arg("container", id))
	for _, action := range actions {
		what.Add("event", string(action))
	}
	said, failed := engine.Events(ctx, events.ListOptions{Since: "1", Filters: what})
	select {
	case event := <-said:
		return event, nil
	case err := <-failed:
		return events.Message{}, err
	}
}

// createTimeout bounds one request to make something.
const createTimeout = 2 * time.Minute

// uninterrupted is for requests that make things: one that is given up half way may still be carried out, after the last search
// for what is left.
func uninterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
}

// attach is ContainerAttach for an engine that may never answer: that one does not heed ctx once it is connected.
func attach(ctx context.Context, engine *client.Client, id string, options container.AttachOptions) (types.HijackedResponse, error) {
	type result struct {
		conn types.HijackedResponse
		err  error
	}
	attached := make(chan result, 1)
	go func() {
		conn, err := engine.ContainerAttach(ctx, id, options)
		attached <- result{conn, err}
	}()
	select {
	case r := <-attached:
		return r.conn, r.err
	case <-ctx.Done():
		go func() {
			if late := <-attached; late.err == nil {
				late.conn.Close()
			}
		}()
		return types.HijackedResponse{}, fmt.Errorf("attach to container %s: %w", id, ctx.Err())
	}
}

// awaitRemoval begins to wait for a container's removal: asking bounds how long the engine may take to begin, waiting how
// long it may go on.
func awaitRemoval(asking, waiting context.Context, engine *client.Client, id string) (<-chan container.WaitResponse, <-chan error) {
	waiting, giveUp := context.WithCancel(waiting)
	defer context.AfterFunc(asking, giveUp)() // harmless once asked
	return engine.ContainerWait(waiting, id, container.WaitConditionRemoved)
}

var errClosed = errors.New("the site is closed")

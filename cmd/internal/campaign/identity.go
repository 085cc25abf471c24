package campaign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"lockcheck/clusters"
)

// execEntry is a program that gives credentials, as the managed clusters of several clouds have it.
type execEntry struct {
	APIVersion string `yaml:"apiVersion"`
	Command    string
	Args       []string
	Env        []struct{ Name, Value string }
}

// identity is how a user shows who it is; a client certificate needs nothing here.
func (u userEntry) identity() (func(*http.Request) error, error) {
	bearer := func(token string) func(*http.Request) error {
		return func(r *http.Request) error { r.Header.Set("Authorization", "Bearer "+token); return nil }
	}
	switch {
	case u.AuthProvider != nil:
		return nil, fmt.Errorf("%w: auth-provider is not understood, and kubectl has dropped it: use exec, a token or a client certificate", clusters.ErrUsage)
	case u.Impersonate != "":
		return nil, fmt.Errorf("%w: `as` (impersonation) is not understood", clusters.ErrUsage)
	case u.TokenFile != "": // is renewed while we run
		file := within(u.dir, u.TokenFile)
		return func(r *http.Request) error {
			text, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("cannot read the token: %w", err)
			}
			return bearer(strings.TrimSpace(string(text)))(r)
		}, nil
	case u.Token != "":
		return bearer(u.Token), nil
	case u.Username != "":
		return func(r *http.Request) error { r.SetBasicAuth(u.Username, u.Password); return nil }, nil
	case u.Exec != nil:
		return (&credentials{from: *u.Exec, dir: u.dir}).identity, nil
	}
	return func(*http.Request) error { return nil }, nil
}

// credentials are those that a program gave, until they run out.
type credentials struct {
	from execEntry
	dir  string

	mu    sync.Mutex
	token string
	until time.Time // zero: they do not run out
}

func (c *credentials) identity(r *http.Request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token == "" || (!c.until.IsZero() && time.Until(c.until) < time.Minute) {
		if err := c.renew(); err != nil {
			return err
		}
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	return nil
}

func (c *credentials) renew() error {
	program := c.from.Command
	if strings.ContainsRune(program, os.PathSeparator) {
		program = within(c.dir, program)
	}
	cmd := exec.Command(program, c.from.Args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf(`KUBERNETES_EXEC_INFO={"apiVersion":%q,"kind":"ExecCredential","spec":{"interactive":false}}`, c.from.APIVersion))
	for _, e := range c.from.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s, which the kubeconfig names for credentials: %w: %s", c.from.Command, err, strings.TrimSpace(stderr.String()))
	}
	var given struct {
		Status struct {
			Token               string
			ExpirationTimestamp time.Time
		}
	}
	if err := json.Unmarshal(out, &given); err != nil || given.Status.Token == "" {
		return fmt.Errorf("%s, which the kubeconfig names for credentials, gave no token (%v)", c.from.Command, err)
	}
	c.token, c.until = given.Status.Token, given.Status.ExpirationTimestamp
	return nil
}

func firstLine(file string) string {
	text, _ := os.ReadFile(file)
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

package resource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"lockcheck/checker/history"
)

// What is certain about a request that failed. Any other error of a Client means that the outcome is unknown.
var (
	// ErrNotSent: the request never got a connection, so not one byte of it left the process. Only this is proof: once
	// there was a connection, a reset or an end of file says nothing about what the other end had read before.
	ErrNotSent = errors.New("not sent to the resource")
	// ErrRefused: the resource says that it did not handle the request (status 4xx but 409): a bug of the client.
	ErrRefused = errors.New("refused by the resource")
	// ErrRejected: the resource compared the request with what it had, and took it for too old.
	ErrRejected = errors.New("rejected by the resource")
)

// Client reads and writes the protected resource. It sends each request once, over connections that it keeps, and waits
// for the answer as long as ctx lets it: the harness decides how long is too long, and records a
// request without an answer as one that may still take effect (rule R8 in checker/RULES.md).
type Client struct {
	host, path string // of the resource's URL
	wrong      error  // with it
	conns      connections
}

// NewClient makes a client of the resource at base: "http://10.0.0.20:8080". With a base that is no such URL no request is sent.
func NewClient(base string) *Client {
	at, err := url.Parse(base)
	switch {
	case err != nil:
		return &Client{wrong: err}
	case at.Scheme != "http" || at.Hostname() == "":
		return &Client{wrong: fmt.Errorf("the resource's URL is %q; want one like http://10.0.0.20:8080", base)}
	}
	port := at.Port()
	if port == "" {
		port = at.Scheme
	}
	return &Client{host: at.Host, path: strings.TrimSuffix(at.EscapedPath(), "/"), conns: connections{addr: net.JoinHostPort(at.Hostname(), port)}}
}

// Close drops the connections that are idle, and those that are not when they are done with.
func (c *Client) Close() { c.conns.close() }

// Read reads the value of ask.Key.
func (c *Client) Read(ctx context.Context, ask Ask) (Answer, error) { return c.post(ctx, "/read", ask) }

// Write writes ask.Value as the value of ask.Key.
func (c *Client) Write(ctx context.Context, ask Ask) (Answer, error) {
	return c.post(ctx, "/write", ask)
}

func (c *Client) post(ctx context.Context, path string, ask Ask) (Answer, error) {
	body, err := json.Marshal(ask)
	if err = errors.Join(c.wrong, err); err != nil {
		return Answer{}, fmt.Errorf("%w: request %s: %w", ErrNotSent, ask.Request, err)
	}
	conn, err := c.conns.get(ctx)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: request %s: %w", ErrNotSent, ask.Request, err)
	}
	status, reply, err := c.conns.exchange(ctx, conn, post(c.host, c.path+path, body))
	if err != nil {
		return Answer{}, fmt.Errorf("request %s to the resource: %w", ask.Request, err)
	}
	return understand(status, reply, ask)
}

// understand turns a reply into an answer. A reply that cannot be read proves nothing.
func understand(status int, raw []byte, ask Ask) (Answer, error) {
	var answer Answer
	if err := json.Unmarshal(raw, &answer); err != nil {
		return Answer{}, fmt.Errorf("the resource's reply to request %s: %w", ask.Request, err)
	}
	switch {
	case status == http.StatusOK && answer.Outcome == history.Applied:
		return answer, nil
	case status == http.StatusConflict && answer.Outcome == history.Rejected:
		return answer, fmt.Errorf("%w: request %s: %s", ErrRejected, ask.Request, answer.Error)
	case status >= 400 && status < 500:
		return answer, fmt.Errorf("%w: request %s: %s: %s", ErrRefused, ask.Request, statusText(status), answer.Error)
	default:
		return answer, fmt.Errorf("the resource's reply to request %s: %s: %s", ask.Request, statusText(status), answer.Error)
	}
}

func statusText(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

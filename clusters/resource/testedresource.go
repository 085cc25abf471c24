package resource

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"lockcheck/checker/history"
)

// What a program that is a resource under test finds in its environment; README.md says more.
const (
	EnvListen = "LOCKCHECK_LISTEN" // host:port to listen on
	EnvData   = "LOCKCHECK_DATA"   // the directory to keep everything in; a restart finds it as it was
	EnvRun    = "LOCKCHECK_RUN"    // the run's id
)

// ErrNotSpoken is that a resource under test answered, and not as its protocol (README.md) has it.
var ErrNotSpoken = errors.New("it does not speak the protocol of a resource (clusters/resource/README.md)")

// Hello is what a resource under test says of itself: the answer to GET /hello.
type Hello struct {
	Name string `json:"name"` // and version, for reports
	// Compares is what it compares before it takes a request: a word of history.ComparisonNames.
	Compares string `json:"compares"`
	// IdempotencyKeys says that it takes writes with such a key; only then it is sent any.
	IdempotencyKeys bool `json:"idempotency_keys"`
}

// Bounds on what a resource under test may answer.
const (
	maxHello = 4 << 10
	maxLine  = 1 << 20 // of its log
	maxLog   = 4 << 30 // bytes of its log: some ten million requests
	maxQuote = 200     // of what an error quotes
)

// Tested asks a resource under test for what clients do not ask it for.
type Tested struct {
	base   string
	http   *http.Client
	maxLog int64
	tried  string // the key of Tryout; "" before
}

// NewTested asks the one at base ("http://10.0.0.20:8080") over connections that dial makes.
func NewTested(base string, dial func(ctx context.Context, network, addr string) (net.Conn, error)) *Tested {
	return &Tested{strings.TrimSuffix(base, "/"), &http.Client{
		Transport:     &http.Transport{Proxy: nil, DialContext: dial, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, maxLog, ""}
}

// Hello asks what it is. An error that wraps ErrNotSpoken is an answer; any other says that there was none.
func (t *Tested) Hello(ctx context.Context) (hello Hello, err error) {
	body, err := t.get(ctx, "/hello")
	if err != nil {
		return hello, err
	}
	defer body.Close()
	raw, err := io.ReadAll(io.LimitReader(body, maxHello))
	if err != nil {
		return hello, fmt.Errorf("reading the answer to GET /hello: %w", err)
	}
	if err := json.Unmarshal(raw, &hello); err != nil {
		return hello, fmt.Errorf("%w: the answer to GET /hello is no JSON object as expected (%w): %s", ErrNotSpoken, err, quoted(raw))
	}
	// A terminal obeys what it is shown, and a name stands in lines of its own.
	if strings.ContainsFunc(hello.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return hello, fmt.Errorf("%w: the answer to GET /hello has a name with characters that cannot be printed: %s", ErrNotSpoken, quoted(raw))
	}
	if _, known := history.ComparisonNamed(hello.Compares); !known {
		return hello, fmt.Errorf(`%w: the answer to GET /hello says that it compares %q; "compares" is one of %s: %s`,
			ErrNotSpoken, hello.Compares, strings.Join(history.ComparisonNames, ", "), quoted(raw))
	}
	return hello, nil
}

// helloEvery is how often one that does not answer yet is asked.
const helloEvery = 20 * time.Millisecond

// AwaitHello asks until it is answered, until ctx is done, or until ended is closed because its process has ended; then ErrEnded.
func (t *Tested) AwaitHello(ctx context.Context, ended <-chan struct{}) (hello Hello, err error) {
	var why error // of the last question that had its time
	for {
		once, cancel := context.WithTimeout(ctx, time.Second)
		hello, err = t.Hello(once)
		cancel()
		if err == nil || errors.Is(err, ErrNotSpoken) {
			return hello, err
		}
		if why == nil || ctx.Err() == nil {
			why = err
		}
		select {
		case <-ended:
			return hello, ErrEnded
		case <-ctx.Done():
			return hello, fmt.Errorf("it did not answer GET /hello: %w", why)
		case <-time.After(helloEvery):
		}
	}
}

// ErrEnded is that the program ended before it had answered.
var ErrEnded = errors.New("it ended before it had answered GET /hello")

// Log reads what it handled of the keys that begin with prefix, and passes each request on, numbered in the order of the lines. An
// error that wraps ErrNotSpoken quotes the line that is wrong, or says that the log is too long; any other is of the connection, or
// pass's own.
func (t *Tested) Log(ctx context.Context, prefix string, pass func(history.Request) error) error {
	path := "/log"
	if prefix != "" {
		path += "?prefix=" + url.QueryEscape(prefix)
	}
	body, err := t.get(ctx, path)
	if err != nil {
		return err
	}
	defer body.Close()
	limited := &io.LimitedReader{R: body, N: t.maxLog + 1}
	in := bufio.NewReaderSize(limited, maxLine)
	seq := int64(0)
	for number := int64(1); ; number++ {
		line, err := in.ReadSlice('\n')
		switch {
		case limited.N == 0:
			return fmt.Errorf("%w: its log (GET %s) has more than %d bytes", ErrNotSpoken, path, t.maxLog)
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("%w: line %d of its log (GET %s) has more than %d bytes", ErrNotSpoken, number, path, maxLine)
		case err != nil && !errors.Is(err, io.EOF):
			// A line that the connection's end cut off is none that the resource wrote wrong.
			return fmt.Errorf("reading its log (GET %s) after %s: %w", path, history.Counted(number-1, "line", "lines"), err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			q, wrong := logLine(line, seq+1)
			switch {
			case wrong != nil && err != nil: // no newline: the connection ended here, and no length had been announced
				return fmt.Errorf("reading its log (GET %s): it ends in the middle of line %d: %s", path, number, quoted(line))
			case wrong != nil:
				return fmt.Errorf("%w: line %d of its log (GET %s): %w: %s", ErrNotSpoken, number, path, wrong, quoted(line))
			}
			if strings.HasPrefix(q.Key, prefix) && (t.tried == "" || q.Key != t.tried) {
				seq++
				if err := pass(q); err != nil {
					return err
				}
			}
		}
		if err != nil {
			return nil
		}
	}
}

// logLine is strict, as the store is with requests: a field that is misspelt would be taken for one that is empty.
func logLine(line []byte, seq int64) (q history.Request, err error) {
	decoder := json.NewDecoder(strings.NewReader(string(line)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&q); err != nil {
		return q, fmt.Errorf("no JSON object as expected (%w)", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return q, errors.New("something follows the JSON object")
	}
	q.Seq, q.TimeNS = seq, 0 // its clock is not the run's
	return q, q.Validate()
}

func (t *Tested) get(ctx context.Context, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.base+path, nil)
	if err != nil {
		return nil, err
	}
	reply, err := t.http.Do(request)
	if err != nil {
		return nil, err
	}
	if reply.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(io.LimitReader(reply.Body, maxQuote))
		reply.Body.Close()
		status := fmt.Sprintf("%d %s", reply.StatusCode, http.StatusText(reply.StatusCode)) // not its own words: a terminal obeys them
		if reply.StatusCode == http.StatusServiceUnavailable {
			return nil, fmt.Errorf("GET %s answered %s: %s", path, status, quoted(raw))
		}
		return nil, fmt.Errorf("%w: GET %s answered %s: %s", ErrNotSpoken, path, status, quoted(raw))
	}
	return reply.Body, nil
}

// quoted is what an error shows of an answer.
func quoted(text []byte) string {
	text = []byte(strings.TrimSpace(string(text)))
	if len(text) > maxQuote {
		return fmt.Sprintf("%q...", text[:maxQuote])
	}
	return fmt.Sprintf("%q", text)
}

package resource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// tryoutKey is the key of the one request that the harness itself sends to a resource under test, before any client does.
const tryoutKey = "lockcheck-tryout"

// Tryout sends one read of a key of its own, below prefix, and looks whether the answer is one: a resource whose every answer is
// nonsense would leave each request of a run without a known outcome, and no report would say why. What it rejects
// or fails at is for the run to find. Log leaves its line out.
func (t *Tested) Tryout(ctx context.Context, prefix string) error {
	t.tried = prefix + tryoutKey
	ask := Ask{Request: "1", Hold: "tryout", Key: t.tried}
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.base+"/read", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	reply, err := t.http.Do(request)
	if err != nil {
		return fmt.Errorf("it did not answer a first POST /read: %w", err)
	}
	defer reply.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(reply.Body, maxBody))
	if err != nil {
		return fmt.Errorf("reading the answer to a first POST /read: %w", err)
	}
	_, err = understand(reply.StatusCode, raw, ask)
	if err == nil || errors.Is(err, ErrRejected) || reply.StatusCode >= http.StatusInternalServerError {
		return nil
	}
	return fmt.Errorf("%w: the answer to a first POST /read is none that clients understand (%s): %s", ErrNotSpoken, statusText(reply.StatusCode), quoted(raw))
}

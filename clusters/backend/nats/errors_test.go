package nats

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"lockcheck/clusters/client"
	"lockcheck/clusters/testkit"
)

func TestWhichErrorsAreDefinite(t *testing.T) {
	for name, test := range map[string]struct {
		err     error
		refused bool
	}{
		"no connection":           {nats.ErrReconnectBufExceeded, true},
		"no leader listens":       {fmt.Errorf("publish: %w", jetstream.ErrNoStreamResponse), true},
		"no answer in time":       {context.DeadlineExceeded, false},
		"the library's own bound": {nats.ErrTimeout, false},
		"the connection ended":    {nats.ErrConnectionClosed, false},
		"end of file":             {io.EOF, false},
		"another answer":          {&jetstream.APIError{Code: 503, ErrorCode: 10008}, false},
		"a conflict":              {&jetstream.APIError{Code: 400, ErrorCode: codeWrongLast}, false}, // for the caller to judge
	} {
		t.Run(name, func(t *testing.T) {
			if got := client.Certain(judge(test.err)); got != test.refused {
				t.Errorf("refused: %t", got)
			}
		})
	}
	for _, o := range outcomes {
		if o.why == "" {
			t.Errorf("%v has no reason", o.is)
		}
	}
}

// As the library wraps them.
func TestAConflictNamesTheLastRevision(t *testing.T) {
	said := &jetstream.APIError{Code: 400, ErrorCode: codeWrongLast, Description: "wrong last sequence: 7"}
	wrapped := fmt.Errorf("%w: %w", said, jetstream.ErrKeyExists)
	if !isConflict(wrapped) || lastOf(wrapped) != 7 {
		t.Errorf("conflict %t, last %d", isConflict(wrapped), lastOf(wrapped))
	}
	pending := &jetstream.APIError{Code: 400, ErrorCode: codeWrongLastPending, Description: "wrong last sequence"}
	if !isConflict(pending) || lastOf(pending) != 0 {
		t.Errorf("conflict %t, last %d", isConflict(pending), lastOf(pending))
	}
	if isConflict(errors.New("wrong last sequence: 7")) || isConflict(nil) {
		t.Error("a text alone is no conflict")
	}
}

func TestAProgramThatIsNotNATSIsNamed(t *testing.T) {
	testkit.RefusesAnotherProgram(t, Backend{}.Software(), "gnatsd v1", "is not NATS")
}

func TestTheImageHasTheVersionThatIsBuilt(t *testing.T) {
	testkit.ImageIsOfModule(t, Backend{}.Software(), "github.com/nats-io/nats-server/v2")
}

package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// A run ends at the first stage that fails, and what was found to be wrong is its reason, not the "cancelled" that it led to.
func TestARunEndsAtTheFirstStageThatFails(t *testing.T) {
	wrong := errors.New("the history cannot be written")
	for name, fails := range map[string]func(r *Run, ctx context.Context) error{
		"by itself":            func(*Run, context.Context) error { return wrong },
		"because it was ended": func(r *Run, ctx context.Context) error { r.fail(wrong); return ctx.Err() },
	} {
		r := New(Setup{}, nil, Output{Log: &strings.Builder{}})
		var did []string
		err := r.Make(t.Context(),
			func(context.Context) error { did = append(did, "first"); return nil },
			func(ctx context.Context) error { did = append(did, "second"); return fails(r, ctx) },
			func(context.Context) error { did = append(did, "third"); return nil })
		if !errors.Is(err, wrong) || errors.Is(err, context.Canceled) || !slices.Equal(did, []string{"first", "second"}) {
			t.Errorf("%s: after %q: %v", name, did, err)
		}
	}
}

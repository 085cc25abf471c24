package client

import (
	"errors"
	"fmt"

	"lockcheck/checker/history"
)

// A client says in its ready report whether its grants carry tokens, before it has granted anything. It is held to that at
// every grant: one that claims what it does not do would only be found out by what the checker then cannot say, when the
// run is over.

// declareTokens takes what the client declares of its tokens, and refuses what nobody could hold it to.
func (d *Driver) declareTokens(ready *Ready) error {
	if ready.Protocol != ProtocolVersion {
		return nil // Init says so: what its words mean is not known
	}
	switch tokens := history.Tokens(ready.Tokens); tokens {
	case history.TokensOrdered, history.TokensNone:
		d.tokens = tokens
		return nil
	case "":
		return fmt.Errorf("its ready report does not say whether its grants carry tokens; \"tokens\" has to be %q or %q", history.TokensOrdered, history.TokensNone)
	default:
		return fmt.Errorf("its ready report declares tokens %q; \"tokens\" has to be %q or %q", clip([]byte(tokens)), history.TokensOrdered, history.TokensNone)
	}
}

// keepsWord refuses a grant that goes against what the client declared. That a token is a number is seen to before.
func (d *Driver) keepsWord(op *pendingOp, report *Report) error {
	var wrong error
	switch {
	case d.tokens == history.TokensOrdered && report.Token == "":
		wrong = errors.New("has none: give each grant its number, or declare \"none\" and the reason")
	case d.tokens == history.TokensNone && report.Token != "":
		wrong = fmt.Errorf("has token %q: declare \"ordered\" if every grant's number is greater than those before it, or leave it out", clip([]byte(report.Token)))
	default:
		return nil
	}
	return fmt.Errorf("its ready report declares tokens %q, and its grant of %s (op %d) %w", d.tokens, op.command.Key, op.command.Op, wrong)
}

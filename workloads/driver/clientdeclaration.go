package driver

import (
	"errors"
	"fmt"

	"lockcheck/checker/history"
	"lockcheck/clusters/client"
)

// declare takes what the client declares of itself in its ready report, and refuses what it could not be held to.
func (d *Driver) declare(ready *client.Ready) error {
	if ready.Protocol != client.ProtocolVersion {
		return nil // Init says so: what its words mean is not known
	}
	if err := ready.Check(); err != nil {
		return err
	}
	d.tokens = history.Tokens(ready.Tokens)
	return nil
}

// A client says in its ready report whether its grants carry tokens, before it has granted anything. It is held to that at
// every grant: one that claims what it does not do would only be found out by what the checker then cannot say, when the
// run is over.

// checkToken refuses a grant that goes against what the client declared. That a token is a number is seen to before.
func (d *Driver) checkToken(op *pendingOp, report *client.Report) error {
	if err := client.CheckGranted(report.Token); err != nil {
		return err
	}
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

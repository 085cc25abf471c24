package driver

import (
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

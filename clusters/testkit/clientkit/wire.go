package clientkit

import (
	"testing"

	"lockcheck/clusters/testkit/wire"
)

// Wire is a way to a server that can be held up.
type Wire = wire.Wire

// The directions.
const (
	ToServer = wire.ToServer
	ToClient = wire.ToClient
)

// NewWire passes everything on to a server.
func NewWire(t *testing.T, server string) *Wire {
	t.Helper()
	return wire.New(t, server)
}

package postgres

import (
	"testing"

	"lockcheck/clusters/internal/backendtest"
)

func TestStorageTakesIdempotencyKeys(t *testing.T) {
	backendtest.StorageTakesIdempotencyKeys(t, Backend{})
}

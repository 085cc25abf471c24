package redlock

import (
	"testing"

	"lockcheck/clusters/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

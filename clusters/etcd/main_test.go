package etcd

import (
	"testing"

	"lockcheck/clusters/internal/backendtest"
)

func TestMain(m *testing.M) { backendtest.Main(m, Backend{}) }

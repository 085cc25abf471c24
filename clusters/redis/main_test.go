package redis

import (
	"testing"

	"lockcheck/clusters/redis/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

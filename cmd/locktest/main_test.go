package locktest_test

import (
	"testing"

	"lockcheck/cmd/locktest"
)

func TestMain(m *testing.M) { locktest.Main(m, ours, simpleEtcd, simpleRedis, fencedEtcd) }

package vdso

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

func TestScaledRoundsDownAtAnySize(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		delta := random.Int64() >> random.IntN(60)
		if random.IntN(2) == 0 {
			delta = -delta
		}
		rate := random.Int64N((1 + MaxDrift) * trueRate)
		want := new(big.Int).Mul(big.NewInt(delta), big.NewInt(rate))
		want.Rsh(want, fractionBits) // rounds down, also below zero
		if want.IsInt64() && scaled(delta, rate) != want.Int64() {
			t.Fatalf("scaled(%d, %d) = %d, want %d", delta, rate, scaled(delta, rate), want)
		}
	}
}

func TestAnInvalidSkewIsRefused(t *testing.T) {
	nan := 0.0
	nan /= nan
	for name, skew := range map[string]Skew{
		"no expiry":             {Wall: Shift{Offset: time.Second}},
		"expiry too far":        {Expiry: MaxExpiry + 1},
		"monotonic back":        {Monotonic: Shift{Offset: -1}, Expiry: time.Minute},
		"backwards":             {Wall: Shift{Drift: -1.01}, Expiry: time.Minute},
		"too fast":              {Monotonic: Shift{Drift: 9.01}, Expiry: time.Minute},
		"not a number":          {Monotonic: Shift{Drift: nan}, Expiry: time.Minute},
		"before 1970":           {Wall: Shift{Offset: -100 * 365 * 24 * time.Hour}, Expiry: time.Minute},
		"beyond 2116":           {Wall: Shift{Offset: 200 * 365 * 24 * time.Hour}, Expiry: time.Minute},
		"monotonic beyond 2116": {Monotonic: Shift{Offset: 200 * 365 * 24 * time.Hour}, Expiry: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			p := startClock(t)
			if _, err := Apply(p.pid(), skew); !errors.Is(err, ErrInvalid) {
				t.Error(err)
			}
			if s := state(t, p.pid()); s != (State{}) {
				t.Errorf("it was changed: %+v", s)
			}
		})
	}
}

package clientkit

import (
	"errors"
	"math/big"
	"strconv"
	"testing"

	"lockcheck/clusters/client"
)

// Token is a grant's token, which has to be there.
func Token(t *testing.T, g client.Grant) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(g.Token(), 10)
	if !ok {
		t.Fatalf("token %q", g.Token())
	}
	return n
}

// WantOwned checks what a release proved: "true", "false" or "unknown".
func WantOwned(t *testing.T, owned *bool, want string) {
	t.Helper()
	got := "unknown"
	if owned != nil {
		got = strconv.FormatBool(*owned)
	}
	if got != want {
		t.Errorf("owned %s, want %s", got, want)
	}
}

// WantCode checks for a definite failure.
func WantCode(t *testing.T, err error, code string) {
	t.Helper()
	var definite *client.Error
	if !errors.As(err, &definite) || definite.Code != code {
		t.Errorf("error %v (%T), want a definite %q", err, err, code)
	}
}

// WantUnknown checks for a failure that proves nothing.
func WantUnknown(t *testing.T, err error) {
	t.Helper()
	var definite *client.Error
	if err == nil || errors.As(err, &definite) {
		t.Errorf("error %v (%T), want one that proves nothing", err, err)
	}
}

// WantJudged checks for a definite failure, or with no code for one that proves nothing.
func WantJudged(t *testing.T, err error, code string) {
	t.Helper()
	if code == "" {
		WantUnknown(t, err)
		return
	}
	WantCode(t, err, code)
}

// WantAnew checks that a grant is of another session than one before it, and has a greater token.
func WantAnew(t *testing.T, next, before client.Grant) {
	t.Helper()
	if next.Session() == before.Session() || Token(t, next).Cmp(Token(t, before)) <= 0 {
		t.Errorf("the next grant has session %s, token %s; before: %s, %s", next.Session(), next.Token(), before.Session(), before.Token())
	}
}

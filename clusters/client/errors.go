package client

import (
	"errors"
	"fmt"
)

// Error is a failure whose outcome is certain: the operation did not happen and never will. It becomes a fail with its
// code; every other error becomes an info. When in doubt, do not use it: a wrong info hides something, a wrong fail
// accuses the service.
type Error struct {
	Code string // of package history: CodeBusy, CodeCancelled, CodeNotOwned, CodeRefused, ...
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Definite makes an Error.
func Definite(code, format string, args ...any) error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// Certain reports whether an error proves that the operation did not happen and never will.
func Certain(err error) bool {
	var definite *Error
	return errors.As(err, &definite)
}

// ErrProtocol means that what the other end said is not this protocol, or that it said that it cannot go on.
var ErrProtocol = errors.New("not the client protocol")

func protocolError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrProtocol}, args...)...)
}

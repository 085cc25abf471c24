package hosttest

import (
	"errors"
	"net"
	"testing"
	"time"

	"lockcheck/clusters"
)

// PipesAndExitCode checks what becomes of the input, the output and the exit code of processes. Its helpers are talk and
// exit-code, which ends with 3.
func PipesAndExitCode(t *testing.T, h clusters.Host) {
	t.Helper()
	p := Start(t, h, "talk")
	if _, err := p.Stdin().WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	if got := ReadLine(t, p.Stdout()); got != "hello" {
		t.Errorf("got %q", got)
	}
	p.Stdin().Close()
	<-p.Done()
	if p.Err() != nil {
		t.Errorf("end of input: %v", p.Err())
	}
	q := Start(t, h, "exit-code")
	<-q.Done()
	if q.Err() == nil || q.Err().Error() != "exit status 3" {
		t.Errorf("exit code 3 became %v", q.Err())
	}
}

// Pauses checks twenty times that an echo server is silent while it is paused, that TCP connects all the same, and that it
// answers afterwards; paused looks at it meanwhile. It returns how long a pause or its end took at most.
func Pauses(t *testing.T, s clusters.Site, p clusters.Process, addr string, paused func()) (longest time.Duration) {
	t.Helper()
	for range 20 {
		begun := time.Now()
		if err := p.(clusters.Pauser).Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, time.Since(begun))
		paused()
		err := Ask(t.Context(), s.Dial, addr, 20*time.Millisecond)
		var timeout net.Error
		if errors.Is(err, ErrNoConnection) || !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("a paused server: %v", err)
		}
		begun = time.Now()
		if err := p.(clusters.Pauser).Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, time.Since(begun))
		Answers(t, s, addr)
	}
	return longest
}

// RefusesNames checks that names that cannot be those of hosts and logs are refused, and that no host is made twice. It
// returns the host n1.
func RefusesNames(t *testing.T, s clusters.Site, more ...string) clusters.Host {
	t.Helper()
	for _, name := range append([]string{"", "../n1", "N1", "n 1"}, more...) {
		if _, err := s.Host(t.Context(), name); err == nil {
			t.Errorf("host %q was made", name)
		}
	}
	h := Host(t, s, "n1")
	if _, err := s.Host(t.Context(), "n1"); err == nil {
		t.Error("a second host n1 was made")
	}
	if _, err := h.Start(t.Context(), clusters.Command{Args: []string{"sleep"}, Log: "../x"}); err == nil {
		t.Error("a log outside its directory was opened")
	}
	return h
}

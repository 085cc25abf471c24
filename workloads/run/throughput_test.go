package run

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/backend/etcd"
	"lockcheck/clusters/client"
)

// echoing is the environment variable that turns the test's program into a client that answers at once.
const echoing = "LOCKCHECK_TEST_ECHO"

// roles are what the test's program does when its environment names one; the tests beside a server of PostgreSQL add theirs.
var roles = map[string]func(string) error{
	echoing: func(string) error { return echo() },
	serving: func(string) error {
		return client.Serve(context.Background(), os.Stdin, os.Stdout, etcd.Concurrency)
	},
	serverOf: beEtcd,
	looping:  beLooper,
}

func TestMain(m *testing.M) {
	for role, play := range roles {
		if value := os.Getenv(role); value != "" {
			if err := play(value); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			return
		}
	}
	os.Exit(m.Run())
}

// echo answers every operation with ok, as little work as a client can have: the benchmark measures the harness.
func echo() error {
	in, out := bufio.NewReaderSize(os.Stdin, 1<<16), bufio.NewWriterSize(os.Stdout, 1<<16)
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return nil // the harness is done
		}
		switch {
		case bytes.Contains(line, []byte(`"cmd":"ping"`)):
			out.WriteString(`{"msg":"pong","n":` + number(line, `"n":`) + "}\n")
		case bytes.Contains(line, []byte(`"cmd":"close"`)):
			return nil
		default:
			out.WriteString(`{"msg":"ok","op":` + number(line, `"op":`) + `,"session":"s1","token":"33","held":true}` + "\n")
		}
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}

func number(line []byte, after string) string {
	_, rest, _ := bytes.Cut(line, []byte(after))
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	return string(rest[:end])
}

// BenchmarkHarness drives five client processes that answer at once, one operation after the other each, and records
// everything. An iteration is one operation. It reports operations a second and the memory that the harness has taken.
func BenchmarkHarness(b *testing.B) {
	harness := startHarness(b, benchClients, echoing)
	commands := [...]client.CommandName{client.CmdAcquire, client.CmdRead, client.CmdWrite, client.CmdRelease}
	harness.ping(b)
	b.ResetTimer()
	harness.each(func(i int, w *worker) {
		for n := range (b.N + benchClients - 1 - i) / benchClients {
			hold := fmt.Sprintf("h%d.%d", i, n/len(commands))
			command := client.Command{Cmd: commands[n%len(commands)], Hold: hold, Key: "k1"}
			if c := w.Do(b.Context(), command); c.Type != history.OK {
				b.Errorf("%s came to %s: %s", command.Cmd, c.Type, c.Report.Error)
				return
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.Sys)/(1<<20), "MB")
}

package workloads

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/clusters/etcd"
	"lockcheck/clusters/local"
	"lockcheck/workloads/client"
)

// echoing is the environment variable that turns the test's program into a client that answers at once.
const echoing = "LOCKCHECK_TEST_ECHO"

func TestMain(m *testing.M) {
	if onHost() {
		return
	}
	for role, play := range map[string]func(string) error{
		echoing: func(string) error { return echo() },
		serving: func(string) error {
			return client.Serve(context.Background(), os.Stdin, os.Stdout, etcd.Concurrency)
		},
		serverDir: beEtcd,
		looping:   beLooper,
	} {
		if value := os.Getenv(role); value != "" {
			if err := play(value); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			return
		}
	}
	local.Exit(m.Run())
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
// everything. An iteration is one operation. It reports operations a second and the heap after the run.
func BenchmarkHarness(b *testing.B) {
	recorder, err := NewRecorder(filepath.Join(b.TempDir(), "history.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	const clients = 5
	var drivers []*client.Driver
	for i := range clients {
		drivers = append(drivers, startClient(b, "c"+strconv.Itoa(i+1), recorder, echoing))
	}
	b.ResetTimer()
	var wait sync.WaitGroup
	for i, driver := range drivers {
		wait.Go(func() {
			hold := "h" + strconv.Itoa(i)
			for op := i + 1; op <= b.N; op += clients {
				command := client.Command{Cmd: [...]client.CommandName{client.CmdAcquire, client.CmdRead, client.CmdWrite, client.CmdRelease}[op/clients%4], Op: int64(op), Hold: hold, Key: "k1"}
				if c := <-driver.Begin(command); c.Type != history.OK {
					b.Errorf("operation %d came to %s", op, c.Type)
					return
				}
			}
		})
	}
	wait.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.Sys)/(1<<20), "MB")
	for _, driver := range drivers {
		driver.Close()
		<-driver.Gone()
	}
	if err := recorder.Close(); err != nil {
		b.Fatal(err)
	}
}

// startClient starts the test's program as a client, in the role that the variable names.
func startClient(b *testing.B, name string, recorder *Recorder, role string) *client.Driver {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"=1")
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout = inRead, outWrite
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	inRead.Close()
	outWrite.Close()
	b.Cleanup(func() {
		inWrite.Close()
		cmd.Wait()
		outRead.Close()
	})
	return client.NewDriver(name, inWrite, outRead, recorder, nil)
}

package history_test

import (
	"bytes"
	"testing"

	"lockcheck/checker/history"
	"lockcheck/checker/longrun"
)

// BenchmarkEvents reads a history as a run writes it; BenchmarkRequests a resource's log.
func BenchmarkEvents(b *testing.B) {
	var file bytes.Buffer
	w := history.NewWriter(&file)
	lines := 0
	for e := range (longrun.Options{Operations: 200_000}).Events() {
		if err := w.Event(e); err != nil {
			b.Fatal(err)
		}
		lines++
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range history.Events(bytes.NewReader(file.Bytes()), "history.jsonl") {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != lines {
			b.Fatal(n, "of", lines)
		}
	}
	b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkRequests(b *testing.B) {
	var file bytes.Buffer
	w := history.NewWriter(&file)
	lines := 0
	for q := range (longrun.Options{Operations: 200_000}).Requests() {
		if err := w.Request(q); err != nil {
			b.Fatal(err)
		}
		lines++
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range history.Requests(bytes.NewReader(file.Bytes()), "resource.jsonl") {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

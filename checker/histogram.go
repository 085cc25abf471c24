package checker

import "math/bits"

// histogram counts durations in buckets whose width grows with what is in them, like a floating-point number with four
// bits behind the leading one: a bucket is never wider than 1/16 of the durations in it. (The layout is that of HDR
// histograms: Gil Tene, hdrhistogram.org.)
type histogram struct {
	n       int64
	max     int64
	buckets [histogramBuckets]uint32
}

const (
	bucketBits       = 4
	histogramBuckets = (64 - bucketBits) << bucketBits // up to 2^63 - 1 ns
)

// bucketOf is the bucket of a duration from 0 on.
func bucketOf(ns int64) int {
	shift := max(bits.Len64(uint64(ns))-bucketBits-1, 0)
	return shift<<bucketBits + int(ns>>shift)
}

// bucketEnd is the greatest duration in a bucket.
func bucketEnd(bucket int) int64 {
	shift := max(bucket>>bucketBits-1, 0)
	return int64(uint64(bucket-shift<<bucketBits+1)<<shift - 1)
}

func (h *histogram) add(ns int64) {
	h.n++
	h.max = max(h.max, ns)
	h.buckets[bucketOf(ns)]++
}

func (h *histogram) join(other *histogram) {
	h.n += other.n
	h.max = max(h.max, other.max)
	for i, n := range other.buckets {
		h.buckets[i] += n
	}
}

// quantiles are the ends of the buckets that hold them.
func (h *histogram) quantiles() Quantiles {
	q := Quantiles{Count: h.n, MaxNS: h.max}
	seen, bucket := int64(0), -1
	for _, want := range []struct {
		percent int64
		ns      *int64
	}{{50, &q.P50NS}, {95, &q.P95NS}, {99, &q.P99NS}} {
		for need := (h.n*want.percent + 99) / 100; seen < need; {
			bucket++
			seen += int64(h.buckets[bucket])
		}
		*want.ns = min(bucketEnd(max(bucket, 0)), h.max)
	}
	return q
}

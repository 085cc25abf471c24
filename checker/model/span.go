package model

import (
	"cmp"
	"math"
	"slices"
)

// Never is the end of what has no known end.
const Never = math.MaxInt64

// Span is a stretch of time.
type Span struct{ FromNS, ToNS int64 }

// minus is what a stretch leaves of spans, merged.
func minus(spans []Span, s Span) (left []Span) {
	for _, a := range spans {
		if s.ToNS <= a.FromNS || s.FromNS >= a.ToNS {
			left = append(left, a)
			continue
		}
		if a.FromNS < s.FromNS {
			left = append(left, Span{a.FromNS, s.FromNS})
		}
		if s.ToNS < a.ToNS {
			left = append(left, Span{s.ToNS, a.ToNS})
		}
	}
	return left
}

// endingAfter are those of some spans, merged, that end after a moment.
func endingAfter(spans []Span, ns int64) []Span {
	return spans[FirstAfter(spans, ns+1, func(s Span) int64 { return s.ToNS }):]
}

// FirstAfter is the place of the first of some things, in the order of their ends, that ends at a time or after it.
func FirstAfter[T any](things []T, ns int64, end func(T) int64) int {
	at, _ := slices.BinarySearchFunc(things, ns, func(t T, ns int64) int {
		if end(t) < ns {
			return -1
		}
		return 1
	})
	return at
}

// Merged sorts spans and joins those that touch.
func Merged(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.FromNS, b.FromNS) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.FromNS <= out[n-1].ToNS {
			out[n-1].ToNS = max(out[n-1].ToNS, s.ToNS)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// Within is how much of [from, to] the spans, merged, cover.
func Within(spans []Span, from, to int64) int64 {
	sum := int64(0)
	for _, s := range endingAfter(spans, from) {
		if s.FromNS >= to {
			break
		}
		if part := min(s.ToNS, to) - max(s.FromNS, from); part > 0 {
			sum += part
		}
	}
	return sum
}

// Touched reports whether any of the spans, merged, has a moment in common with [from, to].
func Touched(spans []Span, from, to int64) bool {
	at := FirstAfter(spans, from, func(s Span) int64 { return s.ToNS })
	return at < len(spans) && spans[at].FromNS <= to
}

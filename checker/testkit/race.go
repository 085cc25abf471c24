//go:build race

package testkit

// oneIn is the part of the whole that a randomised test looks at: one history in so many.
const oneIn = 100

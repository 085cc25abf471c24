//go:build !race

package checker

const raceDetector = false

// randomHistories are how many the exact algorithms are held against Porcupine on.
const randomHistories = 30_000

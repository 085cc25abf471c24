//go:build race

package checker

const raceDetector = true

const randomHistories = 3_000

//go:build e2e

package page

import (
	"testing"

	"lockcheck/reports/testkit/browserkit"
)

// The picture in the README can be taken.
func TestThePictureOfTheReport(t *testing.T) {
	browserkit.Retake(t, picture, example(t), browserkit.View{Width: 1100, Height: 2650})
}

//go:build e2e

package compare

import (
	"testing"

	"lockcheck/reports/testkit/browserkit"
)

// The picture on the page about comparisons can be taken.
func TestThePictureOfTheComparison(t *testing.T) {
	browserkit.Retake(t, picture, example(t), browserkit.View{Width: 1100, Height: 820})
}

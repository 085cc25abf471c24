package words

import "lockcheck/checker/history"

// resource is advice about a resource that does not do what it says.
func (c *circumstance) resource() []string {
	words := []string{"A resource that compares, writes and logs in one transaction, and answers only after it. What is checked in one step and written in the next another request comes between."}
	if c.Plan.ComparesBesideKeys() == history.CompareTokens {
		words = append(words, "Its highest token is kept beside each key's value, in the same transaction: compared as a number of any size, raised by reads too, untouched by what is rejected, and there after a restart.")
	}
	if c.Plan.Keyed() {
		words = append(words, "Its idempotency keys are kept beside each key's value, in the same transaction, with the answer to the first write of each: looked up before anything is compared, not used up by what is rejected, and there after a restart.")
	}
	return append(words, "What it does wrong at all the conformance test of clusters/resource/README.md finds in seconds.")
}

package words

import (
	"strings"
	"testing"

	"lockcheck/checker"
)

func TestEveryPropertyHasWordsAndAPlaceInTheHeadline(t *testing.T) {
	ranks := map[int]checker.Name{}
	for _, about := range checker.Properties() {
		if about.One == "" || about.Many == "" || about.Meaning == "" || LayerMeaning(about.Layer) == "" {
			t.Errorf("%s has no words", about.Name)
		}
		if remedies[about.Advice] == nil {
			t.Errorf("nothing is said about what would have prevented a violation of %s", about.Name)
		}
		if other := ranks[about.Harm]; other != "" || about.Harm < 1 || about.Harm > len(checker.Names()) {
			t.Errorf("%s ranks %d by its harm, as %q does", about.Name, about.Harm, other)
		}
		ranks[about.Harm] = about.Name
		r := &checker.Result{Properties: []checker.Property{{Name: about.Name, Verdict: checker.Violation}}}
		if p := Headline(r); p == nil || p.Name != about.Name {
			t.Errorf("%s never makes the headline", about.Name)
		}
	}
}

// Of a grant that was lost early it is proven that it was lost, and of a release what it removed. Who is to blame is not.
func TestWhatTheLockPromisedIsNoAccusation(t *testing.T) {
	for what, words := range map[string]string{
		"early-expiry":     checker.Describe(checker.EarlyExpiry).Many + checker.Describe(checker.EarlyExpiry).Meaning,
		"release-by-owner": checker.Describe(checker.ReleaseByOwner).Many + checker.Describe(checker.ReleaseByOwner).Meaning,
		"the layer":        LayerMeaning(checker.LayerService),
	} {
		for _, wrong := range []string{"service takes", "at fault", "a bug of", "owner", "another client"} {
			if strings.Contains(words, wrong) {
				t.Errorf("%s says %q: %s", what, wrong, words)
			}
		}
	}
}

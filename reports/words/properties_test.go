package words

import (
	"strings"
	"testing"

	"lockcheck/checker"
	"lockcheck/checker/model"
)

func TestEveryPropertyHasWordsAndAPlaceInTheHeadline(t *testing.T) {
	ranks := map[int]model.Name{}
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
		r := &model.Result{Properties: []model.Property{{Name: about.Name, Verdict: model.Violation}}}
		if p := Headline(r); p == nil || p.Name != about.Name {
			t.Errorf("%s never makes the headline", about.Name)
		}
	}
}

// Of a grant that was lost early it is proven that it was lost, and of a release what it removed. Who is to blame is not.
func TestWhatTheLockPromisedIsNoAccusation(t *testing.T) {
	for what, words := range map[string]string{
		"early-expiry":     checker.Describe(model.EarlyExpiry).Many + checker.Describe(model.EarlyExpiry).Meaning,
		"release-by-owner": checker.Describe(model.ReleaseByOwner).Many + checker.Describe(model.ReleaseByOwner).Meaning,
		"the layer":        LayerMeaning(model.LayerService),
	} {
		for _, wrong := range []string{"service takes", "at fault", "a bug of", "owner", "another client"} {
			if strings.Contains(words, wrong) {
				t.Errorf("%s says %q: %s", what, wrong, words)
			}
		}
	}
}

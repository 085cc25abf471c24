package checker

import (
	"testing"

	"lockcheck/checker/model"
)

// What a pass keeps of what it has seen decides how much it finds, not only whether it finds anything: each finding counts.
func TestNoFindingIsLostOrRepeatedOverWhatIsKept(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		of    model.Name
		count int64
	}{
		"a short core inside a long one does not stand for it": {`
			1.0 a lease:ok session=sa ttl=9 seen=1.0
			1.0 b lease:ok session=sb ttl=2 seen=1.0
			1.1 a acquire h1
			1.2 a acquire:ok h1 token=1 session=sa
			1.3 b acquire h2
			1.4 b acquire:ok h2 token=2 session=sb
			4.0 c acquire h3
			4.1 c acquire:ok h3 token=3 session=sc
			5.0 c lease:ok session=sc ttl=2 seen=4.9
			6.0 d acquire h4
			6.1 d acquire:ok h4 token=4 session=sd`, model.LockLinearizability, 3},
		"what was overwritten once is not lost again": {`
			1.0 a acquire h1
			1.1 a acquire:ok h1 token=1
			2.0 a write h1 value=v1
			2.1 @ write h1
			2.2 a write:ok h1
			3.0 a write h1 value=v2 base=v1
			3.1 @ write h1
			3.2 a write:ok h1
			4.0 a write h1 value=v3 base=v1
			4.1 @ write h1
			4.2 a write:ok h1
			5.0 a write h1 value=v4
			5.1 @ write h1
			5.2 a write:ok h1`, model.LostUpdate, 3},
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := judgeText(t, plainPlan(), test.text)
			if p := propertyOf(result, test.of); p.Count != test.count {
				t.Errorf("%s: %d, want %d", p.Name, p.Count, test.count)
				for _, f := range p.Findings {
					t.Log(f.Summary)
				}
			}
		})
	}
}

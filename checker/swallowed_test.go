package checker

import (
	"strings"
	"testing"
)

// c1's session dies with its server connection, without any pause. An honest library says so before another is granted
// the lock, and exclusion holds; one that swallows the loss goes on answering pings with its hold.
func TestASwallowedLoss(t *testing.T) {
	const text = `
0.10 c1 lease:ok session=s1 ttl=2 seen=0.05
0.11 c1 acquire h1
0.12 c1 acquire:ok h1 token=33 session=s1 seen=0.11
2.30 c1 lease:fail session=s1
%s
2.40 c2 lease:ok session=s2 ttl=2 seen=2.38
2.41 c2 acquire h2
2.42 c2 acquire:ok h2 token=34 session=s2 seen=2.41
2.50 c2 read h2
2.51 @ read h2 token=34
2.52 c2 read:ok h2 held=2.50
2.60 c1 release h1
2.61 c1 release:ok h1 owned=false %s
2.70 c2 release h2
2.71 c2 release:ok h2 owned=true held=2.69
final
`
	honest := strings.NewReplacer("\n%s", "\n2.31 c1 lost h1 session=s1 held=2.29", "%s", "").Replace(text)
	swallowed := strings.NewReplacer("\n%s", "", "%s", "held=2.59").Replace(text)
	if result, _ := judgeText(t, plainPlan(), honest); namesViolated(result) != "" {
		t.Errorf("an honest client is accused of %s", namesViolated(result))
	}
	if result, _ := judgeText(t, plainPlan(), swallowed); namesViolated(result) != "mutual-exclusion:1" {
		t.Errorf("a swallowed loss violates %q, want mutual-exclusion alone", namesViolated(result))
	}
}

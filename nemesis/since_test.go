package nemesis

import (
	"testing"

	"lockcheck/checker/history"
)

// kept notes the events as they are.
type kept struct {
	*scene
	all []history.Event
}

func (k *kept) Record(e history.Event) int64 { k.all = append(k.all, e); return 1000 }

// What shows that a fault is there takes a while, in which a holder may release its lock: the fault counts from when it began.
func TestFaultsThatAreSeenLaterCountFromWhenTheyBegan(t *testing.T) {
	for _, spec := range []string{"slow:one", "rate:one"} {
		parsed := mustParse(t, spec)
		k := &kept{scene: &scene{}}
		i := inject(t.Context(), k, drawnStep{Fault: parsed[0][0]}.act(k, &victim{name: "n1"}, Moment{}))
		if last := k.all[len(k.all)-1]; !i.took || last.Type != history.OK || last.FromNS <= 1000 {
			t.Errorf("%s: recorded %+v, want from when, after 1000", spec, last)
		}
	}
}

package svg

import (
	"cmp"
	"slices"

	"lockcheck/checker/model"
	"lockcheck/reports/words"
)

func (b *timelineBuilder) addFaults() {
	left := int64(0)
	for _, f := range b.model.Faults {
		if len(b.Faults) >= b.limits.faults {
			left++
			continue
		}
		client, ok := b.clients[f.Target]
		if !ok {
			client = -1
		}
		from, to := f.InForce(b.model.EndNS)
		b.Faults = append(b.Faults, TimelineFault{client, from, to, words.Clip(f.Target+" "+words.Fault(f, b.model.EndNS), 2*b.limits.textCharacters), f.EffectiveNS == 0})
	}
	slices.SortStableFunc(b.Faults, func(x, y TimelineFault) int { return cmp.Compare(x.FromNS, y.FromNS) })
	b.leaveOut(left, "fault is not drawn", "faults are not drawn")
}

func (b *timelineBuilder) addMarks() {
	open := func(marks []model.Mark) []TimelineMark {
		var out []TimelineMark
		for i, mark := range marks[:min(len(marks), b.limits.marks)] {
			to := b.EndNS
			if i+1 < len(marks) {
				to = marks[i+1].TimeNS
			}
			out = append(out, TimelineMark{mark.TimeNS, to, b.clip(mark.Value)})
		}
		return out
	}
	m := b.model
	b.Phases, b.Leaders = open(m.Phases), open(m.Leaders)
	left := max(len(m.Leaders)-b.limits.marks, 0)
	for _, d := range words.Disturbances(m) {
		list, mark := &b.Stalls, TimelineMark{d.FromNS, d.ToNS, d.Words}
		if d.Kind == words.StepKind {
			list = &b.Steps
		}
		drawn := len(*list)
		if d.Client != "" {
			drawn = len(b.Silences)
		}
		client, hasLane := b.clients[d.Client]
		switch {
		case d.Client != "" && !hasLane:
		case drawn >= b.limits.marks:
			left++
		case d.Client != "":
			b.Silences = append(b.Silences, TimelineSilence{mark, client})
		default:
			*list = append(*list, mark)
		}
	}
	b.leaveOut(int64(left), "stall, silence, setting of the machine's clock or change of leader is not drawn", "stalls, silences, settings of the machine's clock or changes of leader are not drawn")
}

package disk

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"
)

// verified is a gate and the probe that shows what it does.
type verified struct {
	gate  *gate
	probe *probe
	held  map[Class][]<-chan attempt // answers to requests of the probe that were seen to stand still
}

// begin sets a rule, and returns once the probe saw it in every class that it is about. The rule stays also after an error.
func (v *verified) begin(ctx context.Context, name string, rule Rule) error {
	before := map[Class]int{}
	for _, class := range rule.classes() {
		before[class] = v.gate.holding(class)
	}
	v.gate.set(name, rule)
	for _, class := range rule.classes() {
		if err := v.sees(ctx, rule, class, before[class]); err != nil {
			return err
		}
	}
	return nil
}

func (v *verified) sees(ctx context.Context, rule Rule, class Class, before int) error {
	if rule.Stall {
		return v.seesStall(ctx, class, before)
	}
	a, err := v.probe.try(ctx, class)
	switch {
	case err != nil:
		return err
	case rule.Error && a.Errno != syscall.EIO:
		return fmt.Errorf("%s of its own were to fail with EIO, and ended with %v", class, outcome(a))
	case !rule.Error && (a.Errno != 0 || a.Took < rule.Slow):
		return fmt.Errorf("%s of its own were to take %v longer, and ended with %v after %v", class, rule.Slow, outcome(a), a.Took)
	}
	return nil
}

// seesStall returns once a request of the probe has arrived and is held. Where one is already, by another rule, it is held by this one, too;
// a second write would not even arrive, because the first one locks the file.
func (v *verified) seesStall(ctx context.Context, class Class, before int) error {
	if v.standsStill(class) {
		return nil
	}
	answer, err := v.probe.ask(class)
	if err != nil {
		return err
	}
	v.held[class] = append(v.held[class], answer)
	for v.gate.holding(class) <= before {
		select {
		case a := <-answer:
			return fmt.Errorf("%s of its own were to stand still, and ended with %v", class, outcome(a))
		case <-ctx.Done():
			return fmt.Errorf("%s of its own were not seen to stand still: %w", class, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// end removes a rule, and returns once the probe saw that it is gone in every class that no other rule is about.
func (v *verified) end(ctx context.Context, name string) error {
	rule, known := v.gate.remove(name)
	if !known {
		return nil
	}
	for _, class := range rule.classes() {
		if stall, _, _, _ := v.gate.look(class); stall {
			continue // by another rule
		}
		if err := v.goesOn(ctx, class); err != nil {
			return err
		}
	}
	for _, class := range rule.classes() {
		if err := v.seesEnd(ctx, rule, class); err != nil {
			return err
		}
	}
	return nil
}

// standsStill reports whether a request of the probe is held, by whatever rule.
func (v *verified) standsStill(class Class) bool {
	v.held[class] = slices.DeleteFunc(v.held[class], func(answer <-chan attempt) bool { return len(answer) > 0 })
	return len(v.held[class]) > 0
}

// goesOn waits for the answers to what had stood still. Where another rule is about it they are that one's.
func (v *verified) goesOn(ctx context.Context, class Class) error {
	held := v.held[class]
	delete(v.held, class)
	for _, answer := range held {
		a, err := await(ctx, class, answer)
		if err != nil {
			return err
		}
		if a.Errno != 0 && !v.gate.touched(class) {
			return fmt.Errorf("%s that had stood still ended with %v", class, outcome(a))
		}
	}
	return nil
}

// seesEnd tries until a request is answered as fast as it was not under the rule: one may be slow because the machine is busy.
func (v *verified) seesEnd(ctx context.Context, rule Rule, class Class) error {
	for !v.gate.touched(class) {
		a, err := v.probe.try(ctx, class)
		switch {
		case err != nil:
			return err
		case a.Errno != 0:
			return fmt.Errorf("%s of its own ended with %v", class, outcome(a))
		case rule.Slow == 0 || a.Took < rule.Slow:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("%s of its own still take %v: %w", class, a.Took, ctx.Err())
		}
	}
	return nil
}

func outcome(a attempt) string {
	if a.Errno == 0 {
		return "success"
	}
	return a.Errno.Error()
}

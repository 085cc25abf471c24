package disk

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// verified is a gate and the probe that shows what it does.
type verified struct {
	gate  *gate
	probe *probe
	held  map[string][]heldRequest // requests of the probe that a rule holds, by the rule's name
}

type heldRequest struct {
	class  Class
	answer <-chan attempt
}

// begin sets a rule, and returns once the probe saw it in every class that it is about. The rule stays also after an error.
func (v *verified) begin(ctx context.Context, name string, rule Rule) error {
	before := map[Class]int{}
	for _, class := range rule.classes() {
		before[class] = v.gate.holding(class)
	}
	v.gate.set(name, rule)
	for _, class := range rule.classes() {
		if err := v.sees(ctx, name, rule, class, before[class]); err != nil {
			return err
		}
	}
	return nil
}

func (v *verified) sees(ctx context.Context, name string, rule Rule, class Class, before int) error {
	if rule.Stall {
		return v.seesStall(ctx, name, class, before)
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

// seesStall returns once a request of the probe has arrived and is held.
func (v *verified) seesStall(ctx context.Context, name string, class Class, before int) error {
	answer, err := v.probe.ask(class)
	if err != nil {
		return err
	}
	v.held[name] = append(v.held[name], heldRequest{class, answer})
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
	held := v.held[name]
	delete(v.held, name)
	for _, h := range held {
		if v.gate.touched(h.class) {
			continue
		}
		a, err := await(ctx, h.class, h.answer)
		if err != nil {
			return err
		}
		if a.Errno != 0 {
			return fmt.Errorf("%s that had stood still ended with %v", h.class, outcome(a))
		}
	}
	for _, class := range rule.classes() {
		if err := v.seesEnd(ctx, rule, class); err != nil {
			return err
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

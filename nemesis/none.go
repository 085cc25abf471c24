package nemesis

import (
	"context"

	"lockcheck/checker/history"
)

// none disturbs nothing: what goes wrong under it goes wrong by itself.
var none = Kind{
	Name:  "none",
	About: "no faults: clients only contend for the lock",
	draw:  func(Plan) Nemesis { return calm{} },
}

type calm struct{}

func (calm) Requirements() []history.Requirement {
	return []history.Requirement{{Name: history.ExposureContended, Min: 1}}
}

func (calm) Steps() []string { return nil }

func (calm) Run(ctx context.Context, _ Stage) error {
	<-ctx.Done()
	return nil
}

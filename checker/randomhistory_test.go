package checker

import (
	"lockcheck/checker/model"
	"lockcheck/checker/testkit"
)

// recording is the history as the checker takes it.
func scribedRecording(s *testkit.Scribe) model.Recording {
	return model.Recording{Plan: s.Plan, Events: testkit.Rows(s.Events), Requests: testkit.Rows(s.Requests)}
}

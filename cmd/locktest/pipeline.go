package locktest

import "os"

// pipelines are variables that a job of CI has and no other job: GitHub, GitLab, Jenkins, CircleCI, Buildkite, Azure.
var pipelines = []string{"GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "CI_JOB_ID", "BUILD_TAG", "CIRCLE_WORKFLOW_ID", "CIRCLE_BUILD_NUM", "BUILDKITE_JOB_ID", "BUILD_BUILDID"}

// readPipeline makes go test run again what another job has passed: it answers from its cache, which CI restores, unless a
// variable that the test read has changed. On one's own machine a pass stays cached, as everywhere in Go; -count=1 runs it again.
func readPipeline() {
	for _, name := range pipelines {
		os.Getenv(name)
	}
}

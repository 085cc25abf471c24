// Package reports turns a run into what people and programs read. It judges nothing itself and never looks at a cluster:
// everything it says comes from the files of a run directory, so that it can be said again later and elsewhere.
//
//	reports            what is published of a run: everything below that is a file
//	├── compare        many runs, as a table, a page and files for CI
//	│   └── config     the file of what to run and what is expected of it
//	├── gallery        what came of scenarios, known failures of locks
//	├── index          the page of a directory of runs
//	├── tidy           finds the old runs of a directory, and removes them
//	├── page           report.html, one page for people
//	│   └── svg        its drawings: of a finding, of the whole run, of figures over time
//	├── terminal       what is printed: how a run gets on, its end, a failure in the log of a test
//	├── words          how things are said, everywhere alike
//	└── rundir         the run directory: its files, how it is judged from them, results.json
//
// An arrow only ever points to the right:
//
//	                       reports → page → svg ┐
//	gallery, index, tidy → compare → terminal ──┴→ words → rundir → checker
//
// The wording of faults and properties is in checker/history/faults.go and checker/properties.go, and how it is put into a
// sentence in words.
//
// For tests: testkit makes runs up and reads pages, testkit/browserkit opens them in Chromium.
package reports

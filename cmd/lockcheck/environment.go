package main

import (
	"fmt"
	"strings"

	"lockcheck/clusters"
)

// variable is an environment variable, or several that belong together, that lockcheck reads.
type variable struct{ names, about string }

// environment is the table of all that lockcheck reads; those that it sets for processes of its own are left out.
var environment = []variable{
	{"LOCKCHECK_IMAGE_<BACKEND>", "docker: the image of a backend's servers, such as LOCKCHECK_IMAGE_REDIS; --image overrides it"},
	{"LOCKCHECK_LINUX_BINARY", "docker, from another system: the Linux program of lockcheck that containers run"},
	{"LOCKCHECK_NAMESPACES", "local: off keeps all processes on the loopback network (default: auto)"},
	{"LOCKCHECK_KUBERNETES_CLIENT", "kubernetes: the program of the lock clients, already built (default: lockcheck builds it once and keeps it)"},
	{"KUBEBUILDER_ASSETS", "kubernetes, local: a directory with kube-apiserver, where it is not on PATH"},
	{"KUBECONFIG", "--on=kubernetes: the files that name the cluster, merged as kubectl does (default: ~/.kube/config)"},
	{"KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT, JOB_COMPLETION_INDEX", "set by Kubernetes in a pod: its API server, and which shard it is"},
	{"DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH, DOCKER_API_VERSION", "docker: the engine, as for the docker command"},
	{"DOCKER_CONTEXT, DOCKER_CONFIG", "docker: lockcheck ignores contexts, and says so"},
	{clusters.EnvPassword, "--attach: the password, where --attach-config names no password_file"},
	{"NO_COLOR", "no colours, whatever else is set"},
	{"FORCE_COLOR", "colours, even if the output is no terminal; 0: none"},
	{"TERM", "dumb: progress as lines, and no colours"},
	{"BROWSER", "what --open opens the report with (default: xdg-open)"},
	{"GITHUB_ACTIONS, GITHUB_WORKSPACE", "compare and merge: annotations at the lines of the file of expectations"},
	{"GITLAB_CI, CI_PROJECT_DIR", "compare and merge: paths in junit.xml are relative to this directory, for GitLab"},
	{"GOGC, GOMEMLIMIT", "memory limits of Go; if set, lockcheck sets none of its own"},
	{"PATH, LANG, TZ, GORACE, GOCOVERDIR", "local: passed on to servers and clients; all others are not"},
	{"HOME, TMPDIR", "the docker command's configuration, and the data of active runs"},
}

// environmentWords is the table for --help.
func environmentWords() string {
	var text strings.Builder
	text.WriteString("Environment variables:")
	for _, v := range environment {
		if name := v.names; len(name) > environmentColumn {
			fmt.Fprintf(&text, "\n  %s\n  %*s", name, environmentColumn, "")
		} else {
			fmt.Fprintf(&text, "\n  %-*s", environmentColumn, name)
		}
		text.WriteString("  " + v.about)
	}
	return text.String()
}

// environmentColumn is how wide the column of names is; longer ones have a line of their own.
const environmentColumn = 25

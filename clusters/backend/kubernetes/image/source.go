// Package source names what kube-apiserver is built from, so that go mod tidy keeps it.
package source

import _ "k8s.io/kubernetes/cmd/kube-apiserver/app"

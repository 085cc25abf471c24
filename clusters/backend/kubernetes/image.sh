# How scripts/images, which reads this file, builds the image of the servers; the folder image beside it is what it is built from.

# Its etcd members are lockcheck's own binary. Its lock clients are compiled, too: the first run that needs them only links them then.
image_kubernetes() {
    local built
    command -v go >/dev/null 2>&1 || die 69 "go is missing: kube-apiserver is built from its Go module. Install Go, or leave kubernetes out"
    built=$(GOARCH=$arch scripts/servers kube-apiserver) || die 1 "kube-apiserver could not be compiled"
    say "compiling the lock clients of kubernetes"
    (cd clusters/backend/kubernetes/elector && GOWORK=off GOFLAGS='' GOOS=linux GOARCH=$arch CGO_ENABLED=0 run go build -trimpath -o /dev/null .) ||
        die 1 "the lock clients of kubernetes could not be compiled"
    mkdir -p "$scratch/kubernetes"
    cp clusters/backend/kubernetes/image/{Dockerfile,passwd,group} "$built" "$scratch/kubernetes/"
    build kubernetes "$scratch/kubernetes"
    name kubernetes "$(ask kube-apiserver --version | sed -n 's/^Kubernetes v//p')"
}

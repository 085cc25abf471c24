# How scripts/images, which reads this file, builds the image of the servers; the folder image beside it is what it is built from.

image_etcd() {
    local client server
    command -v go >/dev/null 2>&1 || die 69 "go is missing: etcd is built from its Go module. Install Go, or leave etcd out"
    client=$(go list -m -f '{{.Version}}' go.etcd.io/etcd/client/v3)
    server=$(go list -m -f '{{.Version}}' go.etcd.io/etcd/server/v3)
    [ "$client" = "$server" ] || die 1 "go.mod asks for etcd's server $server and client $client: they have to be the same"
    say "compiling etcd $server (a minute the first time)"
    mkdir -p "$scratch/etcd"
    cp clusters/backend/etcd/image/* "$scratch/etcd/"
    GOOS=linux GOARCH=$arch CGO_ENABLED=0 run go build -trimpath -buildvcs=false -o "$scratch/etcd/etcd" go.etcd.io/etcd/server/v3 ||
        die 1 "etcd $server could not be compiled"
    build etcd "$scratch/etcd"
    name etcd "$(ask etcd --version | awk '/^etcd Version:/ { print $3 }')"
    [ "${image[etcd]}" = "lockcheck/etcd:${server#v}" ] || die 1 "${image[etcd]} came out of etcd $server"
}

# How scripts/images, which reads this file, builds the image of the servers; the folder image beside it is what it is built from.

image_nats() {
    local program
    program=$(GOARCH=$arch scripts/servers nats-server) || die $? "the server of NATS could not be had"
    mkdir -p "$scratch/nats"
    cp clusters/backend/nats/image/{Dockerfile,nats-server.conf} "$program" "$scratch/nats/"
    build nats "$scratch/nats"
    name nats "$(ask nats-server --version | sed -n 's/^nats-server: v//p')"
}

# How scripts/images, which reads this file, builds the image of the servers; the folder image beside it is what it is built from.

image_consul() {
    local program
    need_base
    program=$(GOARCH=$arch scripts/servers consul) || die $? "the server of consul could not be had"
    mkdir -p "$scratch/consul"
    cp clusters/backend/consul/image/{Dockerfile,docker-entrypoint.sh} "$program" "$scratch/consul/"
    build consul "$scratch/consul" --build-arg "BASE=$base"
    name consul "$(ask consul version | sed -n 's/^Consul v\([0-9.]*\).*/\1/p')"
}

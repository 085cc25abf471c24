# How scripts/images, which reads this file, builds the image of the servers; the folder image beside it is what it is built from.

image_s3() {
    local program
    need_base
    program=$(GOARCH=$arch scripts/servers versitygw) || die $? "the gateway of S3 could not be had"
    mkdir -p "$scratch/s3"
    cp clusters/backend/s3/image/{Dockerfile,docker-entrypoint.sh} "$program" "$scratch/s3/"
    build s3 "$scratch/s3" --build-arg "BASE=$base"
    name s3 "$(ask --version | sed -n 's/^Version *: //p')"
}

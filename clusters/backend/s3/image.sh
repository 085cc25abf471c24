# How scripts/images, which reads this file, builds the image of the servers; the folder image beside it is what it is built from.

image_s3() {
    local program
    program=$(GOARCH=$arch scripts/servers versitygw) || die $? "the gateway of S3 could not be had"
    mkdir -p "$scratch/s3"
    cp clusters/backend/s3/image/Dockerfile "$program" "$scratch/s3/"
    build s3 "$scratch/s3"
    name s3 "$(ask versitygw --version | sed -n 's/^Version *: //p')"
}

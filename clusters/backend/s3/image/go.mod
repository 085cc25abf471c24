// The S3 gateway, built by scripts/servers for images and for local runs.
module lockcheck/image/s3

go 1.26.8

require github.com/versity/versitygw v1.8.0

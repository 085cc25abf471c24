# How scripts/images, which reads this file, builds the image of the servers; the folder image beside it is what it is built from.

image_redis() {
    need_base
    build redis clusters/backend/redis/image --build-arg "BASE=$base"
    name redis "$(ask redis-server --version | sed -n 's/.* v=\([0-9.]*\) .*/\1/p')"
}

# How scripts/images, which reads this file, builds the image of the servers; the folder image beside it is what it is built from.

image_zookeeper() {
    need_base
    build zookeeper clusters/backend/zookeeper/image --build-arg "BASE=$base"
    name zookeeper "$(ask zkServer.sh version | sed -n 's/.*version:\{0,1\} \([0-9.]*\).*/\1/p')"
}

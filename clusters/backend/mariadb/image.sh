# How scripts/images, which reads this file, builds the image of the servers; the folder image beside it is what it is built from.

image_mariadb() {
    need_base
    build mariadb clusters/backend/mariadb/image --build-arg "BASE=$base"
    name mariadb "$(ask mariadbd --version | sed -n 's/.* Ver \([0-9.]*\)-MariaDB.*/\1/p')"
}

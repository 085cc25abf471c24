# How scripts/images, which reads this file, builds the image of the servers; the folder image beside it is what it is built from.

image_postgres() {
    need_base
    build postgres clusters/backend/postgres/image --build-arg "BASE=$base"
    name postgres "$(ask postgres --version | sed -n 's/^postgres (PostgreSQL) \([0-9.]*\).*/\1/p')"
}

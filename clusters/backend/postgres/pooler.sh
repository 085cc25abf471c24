# Starts the pooler: sh pooler.sh DATA PROGRAM. It refuses to run as root, as whom an image starts this.
set -e
if [ "$(id -u)" = 0 ] && id postgres >/dev/null 2>&1; then
    chown -R postgres "$1"
    exec setpriv --reuid=postgres --regid=postgres --init-groups sh "$0" "$@"
fi
command -v "$2" >/dev/null || {
    echo "this image has no $2; that which scripts/images postgres builds has one"
    exit 69
}
exec "$2" "$1/pgbouncer.ini"

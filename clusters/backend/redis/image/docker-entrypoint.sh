#!/bin/sh
# Arguments alone, or a configuration file first, mean redis-server; redis-server gives up root and gets its files.
set -e

case ${1:-} in
-* | *.conf) set -- redis-server "$@" ;;
esac

if [ "${1:-}" = redis-server ] && [ "$(id -u)" = 0 ]; then
    find . ! -user redis -exec chown redis {} +
    exec setpriv --reuid redis --regid redis --clear-groups "$0" "$@"
fi

# Data is for the server's eyes only, unless the caller has chosen otherwise.
[ "$(umask)" != 0022 ] || umask 0077
exec "$@"

#!/bin/bash
# Options alone mean mariadbd; mariadbd gives up root, and makes its data where there is none, with a root whose password the environment says.
set -e

[[ ${1:-} != -* ]] || set -- mariadbd "$@"

wants_help() {
    local argument
    for argument; do
        case $argument in -'?' | --help | -V | --version) return 0 ;; esac
    done
    return 1
}

if [[ ${1:-} = mariadbd ]] && ! wants_help "$@"; then
    if [[ $(id -u) = 0 ]]; then
        find /var/lib/mysql ! -user mysql -exec chown mysql {} +
        exec setpriv --reuid mysql --regid mysql --init-groups "$0" "$@"
    fi
    if [[ ! -d /var/lib/mysql/mysql ]]; then
        if [[ -z ${MARIADB_ROOT_PASSWORD:-} && -z ${MARIADB_ALLOW_EMPTY_ROOT_PASSWORD:-} ]]; then
            echo 'Error: set MARIADB_ROOT_PASSWORD, or MARIADB_ALLOW_EMPTY_ROOT_PASSWORD=1.' >&2
            exit 1
        fi
        printf "flush privileges;\ncreate user root@'%%' identified by '%s';\ngrant all on *.* to root@'%%' with grant option;\n" \
            "${MARIADB_ROOT_PASSWORD:-}" >/tmp/first.sql
        mariadb-install-db --datadir=/var/lib/mysql --auth-root-authentication-method=normal --skip-test-db --extra-file=/tmp/first.sql >/dev/null
        rm /tmp/first.sql
    fi
fi
exec "$@"

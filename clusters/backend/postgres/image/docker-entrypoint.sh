#!/bin/bash
# Options alone mean postgres; postgres gives up root, and makes its data where there is none, as the environment says.
set -e

[[ ${1:-} != -* ]] || set -- postgres "$@"

wants_help() {
    local argument
    for argument; do
        case $argument in -'?' | --help | --describe-config | -V | --version) return 0 ;; esac
    done
    return 1
}

# create: a new cluster, and what is in /docker-entrypoint-initdb.d, which is read by a server that none but it can reach.
create() {
    local method=${POSTGRES_HOST_AUTH_METHOD:-} user=${POSTGRES_USER:-postgres} file
    local name=${POSTGRES_DB:-$user}
    local sql=(psql -v ON_ERROR_STOP=1 --no-psqlrc --quiet --username "$user" --no-password)
    if [[ -z ${POSTGRES_PASSWORD:-} && $method != trust ]]; then
        echo 'Error: set POSTGRES_PASSWORD, or POSTGRES_HOST_AUTH_METHOD=trust to let all clients in without one.' >&2
        exit 1
    fi
    eval 'initdb --username="$user" --pwfile=<(printf "%s\n" "${POSTGRES_PASSWORD:-trust}") '"${POSTGRES_INITDB_ARGS:-}"
    printf '\nhost all all all %s\n' "${method:-$(postgres -C password_encryption)}" >>"$PGDATA/pg_hba.conf"
    PGPASSWORD=${POSTGRES_PASSWORD:-} pg_ctl -o "-c listen_addresses=''" -w start >/dev/null
    [[ $name = postgres ]] || "${sql[@]}" --dbname postgres -c "create database \"$name\""
    for file in /docker-entrypoint-initdb.d/*; do
        case $file in
        *.sh) . "$file" ;;
        *.sql) "${sql[@]}" --dbname "$name" -f "$file" ;;
        esac
    done
    pg_ctl -m fast -w stop >/dev/null
}

if [[ ${1:-} = postgres ]] && ! wants_help "$@"; then
    if [[ $(id -u) = 0 ]]; then
        mkdir -p "$PGDATA"
        find "$PGDATA" ! -user postgres -exec chown postgres {} +
        chmod 700 "$PGDATA"
        exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
    fi
    [[ -s $PGDATA/PG_VERSION ]] || create
fi
exec "$@"

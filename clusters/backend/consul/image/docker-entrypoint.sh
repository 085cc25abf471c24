#!/bin/sh
# Options or a subcommand alone mean consul; "agent" alone gets its directories, and CONSUL_LOCAL_CONFIG becomes a file of its
# configuration. consul gives up root, after its data is its own.
set -e

data=${CONSUL_DATA_DIR:-/consul/data}
config=${CONSUL_CONFIG_DIR:-/consul/config}

[ -z "${CONSUL_LOCAL_CONFIG:-}" ] || echo "$CONSUL_LOCAL_CONFIG" >"$config/local.json"

case ${1:-} in
agent)
    shift
    set -- consul agent -data-dir="$data" -config-dir="$config" "$@"
    ;;
-* | version | members | kv | operator | leave | reload | validate | keygen) set -- consul "$@" ;;
esac

if [ "${1:-}" = consul ] && [ "$(id -u)" = 0 ] && [ -z "${CONSUL_DISABLE_PERM_MGMT+x}" ]; then
    chown consul:consul "$data" "$config"
    exec setpriv --reuid consul --regid consul --clear-groups "$@"
fi
exec "$@"

# Starts a server: sh start.sh DIR SERVER INSTALL ROLE. SERVER is mariadbd, INSTALL the program that makes its data, if it has none. ROLE is
# primary or replica.
set -e
dir=$1 server=$2 install=$3 role=$4

# An image starts this as root, who owns what was put into place.
if [ "$(id -u)" = 0 ] && id mysql >/dev/null 2>&1; then
    chown -R mysql "$dir"
    exec setpriv --reuid=mysql --regid=mysql --init-groups sh "$0" "$@"
fi

# A server that is killed while its data is made begins anew.
if [ ! -e "$dir/complete" ]; then
    rm -rf "$dir/data"
    mkdir "$dir/data"
    case $server in /*) base=--basedir=$(dirname "$(dirname "$server")") ;; *) base= ;; esac
    "$install" --no-defaults $base --datadir="$dir/data" --auth-root-authentication-method=normal --skip-test-db --skip-name-resolve \
        --extra-file="$dir/first.sql" --innodb-flush-method=nosync --innodb-flush-log-at-trx-commit=0 --innodb-log-file-size=16M --innodb-buffer-pool-size=32M
    # A server whose data was lost is another one: it would take what replicas had from it for its own, and skip that.
    echo $((1 + $(od -An -N3 -tu4 /dev/urandom))) >"$dir/server-id"
    touch "$dir/complete"
    # On a disk that can lose its power: what is made in the middle of a run is as safe as what was there before it.
    if grep -qs " $dir fuse.lockcheck " /proc/self/mounts; then find "$dir" -exec sync {} +; fi
fi

set -- --defaults-file="$dir/my.cnf" --server-id="$(cat "$dir/server-id")"
if [ "$role" = replica ]; then set -- "$@" --read-only --init-file="$dir/follow.sql"; fi
exec "$server" "$@"

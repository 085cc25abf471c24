# Starts a server: sh start.sh DIR SERVER INSTALL ROLE [NODE NODES OTHERS]. SERVER is mariadbd, INSTALL the program that makes its data, if it has
# none. ROLE is primary or replica, or galera for the server with the number NODE of so many; OTHERS are where the others are, with commas.
set -e
dir=$1 server=$2 install=$3 role=$4 node=$5 nodes=$6 others=$7

# An image starts this as root, who owns what was put into place.
if [ "$(id -u)" = 0 ] && id mysql >/dev/null 2>&1; then
    chown -R mysql "$dir"
    exec setpriv --reuid=mysql --regid=mysql --init-groups sh "$0" "$@"
fi

# state UUID SEQNO SAFE: what Galera keeps in grastate.dat, the name of a history and the place in it.
state() { printf 'version: 2.1\nuuid: %s\nseqno: %s\nsafe_to_bootstrap: %s\n' "$1" "$2" "$3" >"$dir/data/grastate.dat"; }

# member NUMBER INCARNATION: what the group knows a server by.
member() { printf '%08x-0000-11e0-%04x-000000000000' "$1" "$2"; }

# survivor reports whether another server goes on: one that waits for the group does not listen yet.
survivor() {
    for at in $(echo "$others" | tr , ' '); do
        ! socat -u OPEN:/dev/null "TCP:$at:3306,connect-timeout=1" 2>/dev/null || return 0
    done
    return 1
}

# A server that is killed while its data is made begins anew.
if [ ! -e "$dir/complete" ]; then
    rm -rf "$dir/data"
    mkdir "$dir/data"
    case $server in /*) base=--basedir=$(dirname "$(dirname "$server")") ;; *) base= ;; esac
    "$install" --no-defaults $base --datadir="$dir/data" --auth-root-authentication-method=normal --skip-test-db --skip-name-resolve \
        --extra-file="$dir/first.sql" --innodb-flush-method=nosync --innodb-flush-log-at-trx-commit=0 --innodb-log-file-size=16M --innodb-buffer-pool-size=32M
    # A server whose data was lost is another one: it would take what replicas had from it for its own, and skip that.
    echo $((1 + $(od -An -N3 -tu4 /dev/urandom))) >"$dir/server-id"
    if [ "$role" = galera ]; then # a group of another name for a moment, and alone: all servers then are at the same place in one history
        state 10c4c4ec-0000-11e0-8000-000000000000 0 1
        echo 'shutdown;' >"$dir/once.sql"
        "$server" --defaults-file="$dir/my.cnf" --wsrep-new-cluster --wsrep-cluster-name="alone$node" --wsrep-cluster-address=gcomm:// \
            --skip-networking --init-file="$dir/once.sql"
        rm "$dir/data/galera.cache"
    fi
    touch "$dir/complete"
    # On a disk that can lose its power: what is made in the middle of a run is as safe as what was there before it.
    if grep -qs " $dir fuse.lockcheck " /proc/self/mounts; then find "$dir" -exec sync {} +; fi
fi

set -- --defaults-file="$dir/my.cnf" --server-id="$(cat "$dir/server-id")"
case $role in
replica) set -- "$@" --read-only --init-file="$dir/follow.sql" ;;
galera)
    # After a crash only the server says where it is in the history.
    "$server" "$@" --wsrep-recover --skip-networking --log-error="$dir/recovered.err"
    place=$(sed -n 's/.*Recovered position: *//p' "$dir/recovered.err" | tail -n 1)
    state "${place%:*}" "${place##*:}" 0
    # gvwstate.dat has the last members. Where none goes on, each may have other ones, or have left: then none goes on before all are there, and
    # they go on from where the one is that has most.
    if [ ! -e "$dir/data/gvwstate.dat" ] || ! survivor; then
        {
            echo "my_uuid: $(member "$node" "$(($(date +%s) % 65536))")"
            echo '#vwbeg'
            echo "view_id: 3 $(member 1 0) 1"
            echo 'bootstrap: 0'
            for i in $(seq "$nodes"); do echo "member: $(member "$i" 0) 0"; done
            echo '#vwend'
        } >"$dir/data/gvwstate.dat"
    fi
    chmod 700 "$dir/wsrep_sst_lockcheck"
    PATH=$dir:$PATH
    ;;
esac
exec "$server" "$@"

# Starts a server: sh start.sh DATA BIN FOLLOWED. BIN is where the programs are, "" for PATH; FOLLOWED is the address of the
# primary, "" for a server that is to be one. Data that is there decides by itself: standby.signal in it says that it is a
# standby's. Without data a primary makes a new cluster, and a standby copies that of the primary.
set -e
data=$1 bin=${2:+$2/} followed=$3
pgdata=$data/pgdata

# An image starts this as root, who owns what was put into place.
if [ "$(id -u)" = 0 ] && id postgres >/dev/null 2>&1; then
    chown -R postgres "$data"
    exec setpriv --reuid=postgres --regid=postgres --init-groups sh "$0" "$@"
fi

create() {
    "${bin}initdb" --no-sync --no-instructions -A trust -U postgres -E UTF8 --locale=C -D "$pgdata"
    "${bin}postgres" --single -D "$pgdata" -c config_file="$data/postgresql.conf" -c synchronous_commit=local postgres <"$data/tables.sql" >/dev/null
}

# The primary may not be there yet, or may just have become one.
copy() {
    until "${bin}pg_basebackup" -h "$followed" -U postgres -D "$pgdata" --checkpoint=fast --wal-method=stream --no-sync; do
        rm -rf "$pgdata"
        sleep 0.1
    done
    touch "$pgdata/standby.signal"
}

# A server that is killed while its data is made begins anew.
if [ ! -e "$data/complete" ]; then
    rm -rf "$pgdata"
    if [ -n "$followed" ]; then copy; else create; fi
    touch "$data/complete"
    # On a disk that can lose its power: what is made in the middle of a run is as safe as what was there before it.
    if grep -qs " $data fuse.lockcheck " /proc/self/mounts; then find "$data" -exec sync {} +; fi
fi
exec "${bin}postgres" -D "$pgdata" -c config_file="$data/postgresql.conf" -c hba_file="$data/pg_hba.conf"

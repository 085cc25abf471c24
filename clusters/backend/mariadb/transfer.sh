#!/bin/sh
# How a node of a Galera cluster is told to go on with the data that it has: the server runs this where others copy data (rsync, mariabackup). Those
# look for processes with ps, which finds none in a host's own process namespace. What the node missed, it then gets from Galera itself.
set -e
while [ $# -gt 0 ]; do
    case $1 in
    --role) role=$2 ;;
    --address) address=$2 ;;
    --gtid) place=$2 ;;
    --parent) server=$2 ;;
    --bypass) missed=kept ;;
    esac
    shift
done

if [ "$role" = donor ]; then
    if [ -z "$missed" ]; then
        echo "what the other node missed is not kept here any more (gcache.size), and lockcheck copies no data" >&2
        exit 1
    fi
    echo "$place" | socat -u - "TCP:$address,retry=100,interval=0.1"
    echo "done $place"
    exit
fi

told=$(mktemp)
socat -u "TCP-LISTEN:4444,bind=$address,reuseaddr" "OPEN:$told" &
trap 'kill $! 2>/dev/null || true; rm -f "$told"' EXIT
echo "ready $address:4444"
while kill -0 "$server" 2>/dev/null && kill -0 $! 2>/dev/null; do sleep 0.1; done
cat "$told"

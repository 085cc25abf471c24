# What scripts/image/verify, which reads this file, asks of the image of the servers.
etcd() { http "$1" 2379 "${@:2}"; }
volume etcd
urls=(--listen-client-urls http://0.0.0.0:2379 --advertise-client-urls http://e1:2379)
start e1 -v "$run-etcd:/etcd-data" "$image" etcd --name n1 --data-dir /etcd-data "${urls[@]}"
expect "etcd with options is healthy" '"health":"true"' etcd e1 /health
expect "and tells its version" '"etcdserver":"[0-9]' etcd e1 /version
expect "it is PID 1 and runs as root" '^PID1 0 etcd$' processes e1
expect "a write" '"revision":"2"' etcd e1 /v3/kv/put '{"key":"aw==","value":"djE="}'
stop e1
start e2 --init -v "$run-etcd:/etcd-data" -e ETCD_NAME=n1 -e ETCD_DATA_DIR=/etcd-data -e ETCD_LISTEN_CLIENT_URLS=http://0.0.0.0:2379 \
    -e ETCD_ADVERTISE_CLIENT_URLS=http://e2:2379 "$image" /usr/local/bin/etcd
expect "by ETCD_ variables, with --init; its volume outlives kill -9 in a new container" '"value":"djE="' etcd e2 /v3/kv/range '{"key":"aw=="}'
expect "with --init it is a child" '^0 etcd$' processes e2

# What scripts/image/verify, which reads this file, asks of the image of the servers.
consul() { http "$1" 8500 "${@:2}"; }
volume consul
start c1 "$image"
expect "no arguments: a development agent leads, and answers another container" '^"127.0.0.1:8300"' consul c1 /v1/status/leader
start c2 -v "$run-consul:/consul/data" -e 'CONSUL_LOCAL_CONFIG={"session_ttl_min": "1s"}' "$image" agent -server -bootstrap-expect=1 -client=0.0.0.0
expect "agent with options, in its own directories" ':8300"' consul c2 /v1/status/leader
expect "it is PID 1 and runs as consul" '^PID1 100 consul$' processes c2
expect "CONSUL_LOCAL_CONFIG is a part of its configuration" '"SessionTTLMin": ?"1s"' consul c2 /v1/agent/self
expect "a write" Success docker exec "$run-c2" consul kv put k v1
stop c2
create c3 --init -v "$run-consul:/consul/data" "$image" consul agent -config-file=/consul/config/own.json
put c3 /consul/config/own.json <<<'{"server": true, "bootstrap_expect": 1, "client_addr": "0.0.0.0", "data_dir": "/consul/data", "ports": {"dns": -1}}'
docker start "$run-c3" >/dev/null
expect "a file of its configuration alone; its volume outlives kill -9 in a new container" '"Key": ?"k"' consul c3 /v1/kv/k
expect "with --init it is a child" '^100 consul$' processes c3

# What scripts/image/verify, which reads this file, asks of the image of the servers.
nats() { http "$1" 8222 "${@:2}"; }
volume nats
start s1 -v "$run-nats:/data" "$image" nats-server -js -sd /data -m 8222
expect "with options it serves" '"status": ?"ok"' nats s1 /healthz
expect "and tells its version" '"version": ?"2[.]' nats s1 /varz
expect "it is PID 1 and runs as root" '^PID1 0 nats-server$' processes s1
expect "it keeps what it is told" '"store_dir": ?"/data/jetstream"' nats s1 /jsz
stop s1
start s2 --init "$image"
expect "no arguments: it serves by its own file" '"status": ?"ok"' nats s2 /healthz
expect "with --init it is a child" '^0 nats-server$' processes s2

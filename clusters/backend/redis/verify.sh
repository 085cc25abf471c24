# What scripts/image/verify, which reads this file, asks of the image of the servers.
redis() { local host=$1; shift; docker exec "$run-probe" timeout 5 redis-cli -h "$host" "$@" 2>&1; }
volume redis
start r1 -v "$run-redis:/data" "$image" redis-server --appendonly yes --appendfsync always
expect "redis-server with options answers another container" PONG redis r1 PING
expect "it is PID 1 and runs as redis" '^PID1 999 redis-server$' processes r1
expect "it works in /data" /data redis r1 CONFIG GET dir
expect "protected-mode is off, as compiled into the official image" '^no$' redis r1 CONFIG GET protected-mode
expect "a write" OK redis r1 SET k v1
stop r1
start r2 -v "$run-redis:/data" "$image" --appendonly yes
expect "options alone mean redis-server; /data outlives kill -9 in a new container" v1 redis r2 GET k
start r3 --init "$image"
expect "no arguments, with --init" PONG redis r3 PING
expect "the server is a child of the init process then, and runs as redis" '^999 redis-server$' processes r3
create r4 "$image" redis-server /usr/local/etc/redis.conf --maxclients 77
put r4 /usr/local/etc/redis.conf <<<'maxmemory 12345678'
docker start "$run-r4" >/dev/null
expect "a configuration file is read" 12345678 redis r4 CONFIG GET maxmemory
expect "and options after it" '^77$' redis r4 CONFIG GET maxclients
create r5 "$image" own.conf
put r5 /data/own.conf <<<'include /data/more.conf'
put r5 /data/more.conf <<<'Protected-Mode yes'
docker start "$run-r5" >/dev/null
expect "a file's own protected-mode, here from a file included, is obeyed" DENIED redis r5 PING
start r6 "$image" --protected-mode yes
expect "so is the command line's" DENIED redis r6 PING
start r7 --user 1234:1234 "$image" redis-server --dir /tmp --save ''
expect "another user by --user" '^PID1 1234 redis-server$' processes r7
expect "answers too" PONG redis r7 PING
for command in "redis-server s.conf --sentinel" "redis-sentinel s.conf"; do
    create s1 "$image" $command
    printf '%s\n' 'port 26379' 'sentinel resolve-hostnames yes' 'sentinel monitor m r3 6379 1' | put s1 /data/s.conf
    docker start "$run-s1" >/dev/null
    expect "a Sentinel by $command, seen from outside" '^m$' redis s1 -p 26379 SENTINEL MASTERS
    stop s1
done

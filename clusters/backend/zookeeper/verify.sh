# What scripts/image/verify, which reads this file, asks of the image of the servers.
zk() { docker exec "$run-probe" timeout 5 bash -c "exec 3<>/dev/tcp/$1/2181; printf %s $2 >&3; cat <&3" 2>&1; }
volume zk-data
volume zk-log
kept=(-v "$run-zk-data:/data" -v "$run-zk-log:/datalog")
start z0 "$image"
expect "no arguments, nothing set: srvr" 'Mode: standalone' zk z0 srvr
start z1 "${kept[@]}" -e ZOO_MY_ID=7 -e 'ZOO_SERVERS=server.7=localhost:2888:3888;2181' -e 'ZOO_4LW_COMMANDS_WHITELIST=*' -e ZOO_TICK_TIME=222 -e 'ZOO_CFG_EXTRA=minSessionTimeout=555 snapCount=1234' \
    -e JVMFLAGS=-Dlockcheck.a=1 -e SERVER_JVMFLAGS=-Dlockcheck.b=2 -e ZK_SERVER_HEAP=333 "$image"
expect "the admin server" '"error" : null' http z0 8080 /commands/ruok
expect "ruok, by ZOO_4LW_COMMANDS_WHITELIST" imok zk z1 ruok
expect "the JVM is PID 1 and runs as zookeeper" '^PID1 1000 java$' processes z1
expect "ZOO_TICK_TIME" '^tickTime=222$' zk z1 conf
expect "ZOO_CFG_EXTRA" '^minSessionTimeout=555$' zk z1 conf
expect "JVMFLAGS, SERVER_JVMFLAGS and ZK_SERVER_HEAP" '-Xmx333m -Dlockcheck.b=2 -Dlockcheck.a=1' \
    docker exec "$run-z1" sh -c "tr '\0' ' ' </proc/1/cmdline"
expect "the log goes to the console" 'INFO.*binding to port' docker logs "$run-z1"
expect "zkServer.sh status finds the server" 'Mode: standalone' docker exec "$run-z1" zkServer.sh status
expect "zkCli.sh writes" 'Created /k' docker exec "$run-z1" zkCli.sh create /k v1
stop z1
start z2 "${kept[@]}" -e ZOO_MY_ID=9 -e 'ZOO_SERVERS=server.7=localhost:2888:3888;2181' "$image" zkServer.sh start-foreground
expect "/data and /datalog outlive kill -9 in a new container" '^v1$' docker exec "$run-z2" zkCli.sh get /k
expect "and so does the number that the server had" '^7$' docker exec "$run-z2" cat /data/myid
create z3 --init -e ZOO_TICK_TIME=1 "$image"
printf '%s\n' dataDir=/data clientPort=2181 tickTime=444 '4lw.commands.whitelist=*' admin.enableServer=false | put z3 /conf/zoo.cfg
docker start "$run-z3" >/dev/null
expect "/conf/zoo.cfg is taken as it is" '^tickTime=444$' zk z3 conf
expect "with --init the JVM is a child, and runs as zookeeper" '^1000 java$' processes z3
servers='server.1=q1:2888:3888;2181 server.2=q2:2888:3888;2181 server.3=q3:2888:3888;2181'
for i in 1 2 3; do start "q$i" -e "ZOO_MY_ID=$i" -e "ZOO_SERVERS=$servers" "$image"; done
quorum() { for i in 1 2 3; do zk "q$i" srvr; done | grep Mode | sort | tr '\n' ' '; }
expect "three servers by ZOO_SERVERS and ZOO_MY_ID form a quorum" '^Mode: follower Mode: follower Mode: leader $' quorum

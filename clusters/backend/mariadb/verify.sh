# What scripts/image/verify, which reads this file, asks of the image of the servers.
# db HOST SQL: asked from another container of the same image, as a user of the official one does it.
db() { docker run --rm --network "$run" --label "$run" "$image" mariadb --connect-timeout=5 -h "$1" -uroot -psecret -Ne "$2" 2>&1; }
volume mariadb
start m1 -v "$run-mariadb:/var/lib/mysql" -e MARIADB_ROOT_PASSWORD=secret "$image"
expect "no arguments and a password: another container is let in with it" '^1$' db m1 'select 1'
expect "it is PID 1 and runs as mysql" '^PID1 999 mariadbd$' processes m1
expect "its data is where the official image has it" '^/var/lib/mysql/$' db m1 'select @@datadir'
expect "a write" '^7$' db m1 'create database d; create table d.t select 7 as v; select v from d.t'
stop m1
start m2 --init -v "$run-mariadb:/var/lib/mysql" "$image" --max-connections=77
expect "options alone mean mariadbd; the data outlives kill -9 in a new container" '^7.77$' db m2 'select v, @@max_connections from d.t'
expect "without a password it does not start, and says why" 'MARIADB_ROOT_PASSWORD' docker run --rm --network none --label "$run" "$image"
expect "Galera and socat, for a cluster" '^/usr/lib/galera/libgalera_smm.so./usr/bin/socat$' docker run --rm --network none --label "$run" "$image" \
    ls -1 /usr/lib/galera/libgalera_smm.so /usr/bin/socat

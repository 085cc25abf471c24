# What scripts/image/verify, which reads this file, asks of the image of the servers.
# pg HOST SQL: asked from another container of the same image, as a user of the official one does it.
pg() { docker run --rm --network "$run" --label "$run" -e PGPASSWORD=secret -e PGCONNECT_TIMEOUT=5 "$image" psql -h "$1" -U postgres -Atc "$2" 2>&1; }
volume postgres
start p1 -v "$run-postgres:/var/lib/postgresql/data" -e POSTGRES_PASSWORD=secret "$image"
expect "no arguments and a password: another container is let in with it" '^1$' pg p1 'select 1'
expect "it is PID 1 and runs as postgres" '^PID1 999 postgres$' processes p1
expect "its data is where the official image has it" '^/var/lib/postgresql/data$' pg p1 'show data_directory'
expect "a write" '^SELECT 1$' pg p1 'create table t as select 7 as v'
expect "pgbouncer, for the setting pooler" '^PgBouncer [0-9]' docker run --rm --network none --label "$run" --entrypoint pgbouncer "$image" --version
stop p1
start p2 --init -v "$run-postgres:/var/lib/postgresql/data" "$image" -c max_connections=77
expect "options alone mean postgres; the data outlives kill -9 in a new container" '^7 77$' pg p2 "select v || ' ' || current_setting('max_connections') from t"
create p3 -e POSTGRES_HOST_AUTH_METHOD=trust -e POSTGRES_DB=own "$image" postgres -c fsync=off
put p3 /docker-entrypoint-initdb.d/one.sql <<<'create table first as select 42 as v'
docker start "$run-p3" >/dev/null
expect "POSTGRES_DB, and a file of /docker-entrypoint-initdb.d" '^42$' \
    docker run --rm --network "$run" --label "$run" "$image" psql -h p3 -U postgres -d own -Atc 'select v from first'
expect "without a password it does not start, and says why" 'POSTGRES_PASSWORD' docker run --rm --network none --label "$run" "$image"

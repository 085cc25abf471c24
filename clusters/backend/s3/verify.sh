# What scripts/image/verify, which reads this file, asks of the image of the servers.
volume s3
gateway() { start "$1" -v "$run-s3:/data" -e ROOT_ACCESS_KEY=verify -e ROOT_SECRET_KEY=verify-secret "${@:2}" posix /data; }
gateway g1 "$image"
expect "it serves, and lets nobody in without a key" '<Code>AccessDenied</Code>' http g1 7070 /
expect "it is PID 1 and runs as root" '^PID1 0 versitygw$' processes g1
stop g1
gateway g2 -e VGW_BINARY=/usr/bin/env "$image" versitygw
expect "named by the command, as lockcheck does, it serves" '<Code>AccessDenied</Code>' http g2 7070 /
stop g2

# What scripts/image/verify, which reads this file, asks of the image of the servers.
volume s3
start g1 -v "$run-s3:/data" -e ROOT_ACCESS_KEY=verify -e ROOT_SECRET_KEY=verify-secret "$image" versitygw posix /data
expect "it serves, and lets nobody in without a key" '<Code>AccessDenied</Code>' http g1 7070 /
expect "it is PID 1 and runs as root" '^PID1 0 versitygw$' processes g1
stop g1

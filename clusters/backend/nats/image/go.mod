// The NATS server, built by scripts/servers for images and for local runs. Linked into lockcheck, it would make that 21 % larger.
module lockcheck/image/nats

go 1.26.8

require github.com/nats-io/nats-server/v2 v2.15.2

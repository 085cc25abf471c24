# How scripts/servers, which reads this file, builds the server.
all+=(nats-server)
server_nats-server() { build nats-server ../clusters/backend/nats/image github.com/nats-io/nats-server/v2; }

# How scripts/servers, which reads this file, builds the server.
all+=(consul)
server_consul() { build consul ../clusters/backend/consul/image github.com/hashicorp/consul; }

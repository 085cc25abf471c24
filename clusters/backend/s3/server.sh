# How scripts/servers, which reads this file, builds the server.
all+=(versitygw)
server_versitygw() { build versitygw ../clusters/backend/s3/image github.com/versity/versitygw/cmd/versitygw "-X main.Version=$(sed -n 's/^require .* v//p' ../clusters/backend/s3/image/go.mod)"; }

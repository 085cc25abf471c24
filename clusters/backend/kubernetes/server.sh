# How scripts/servers, which reads this file, builds the server.
all+=(kube-apiserver)
server_kube-apiserver() { kube kube-apiserver ../clusters/backend/kubernetes/image; }

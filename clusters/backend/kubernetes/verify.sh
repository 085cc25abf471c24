# What scripts/image/verify, which reads this file, asks of the image of the servers. Their data is on e2, an etcd of the questions
# that come before.
own=/var/run/kubernetes/apiserver # a pair of keys that it makes for itself
start k1 "$image" kube-apiserver --etcd-servers=http://e2:2379 --service-cluster-ip-range=10.96.0.0/24 --endpoint-reconciler-type=none \
    --service-account-issuer=https://verify --service-account-key-file=$own.crt --service-account-signing-key-file=$own.key
expect "kube-apiserver with options, on an etcd, serves" 'Serving securely on .*:6443' docker logs "$run-k1"
expect "and tells its version" '^Kubernetes v1\.[0-9]+' docker run --rm --network none --label "$run" "$image" kube-apiserver --version
expect "it is PID 1 and runs as root" '^PID1 0 kube-apiserver$' processes k1

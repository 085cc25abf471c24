module lockcheck/clusters/client/libraries/etcd-3.4

go 1.26.8

require (
	go.etcd.io/etcd v0.5.0-alpha.5.0.20200824191128-ae9734ed278b // which is v3.4.13: its path has no major version, so that the proxy names it by its commit
	google.golang.org/grpc v1.83.2
	lockcheck v0.0.0
)

require (
	github.com/coreos/go-semver v0.3.1 // indirect
	github.com/coreos/go-systemd v0.0.0-20180511133405-39ca1b05acc7 // indirect
	github.com/coreos/pkg v0.0.0-20160727233714-3ac0863d7acf // indirect
	github.com/gogo/protobuf v1.3.2 // indirect
	github.com/golang/protobuf v1.5.4 // indirect
	github.com/google/uuid v1.6.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.uber.org/zap v1.27.1 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	google.golang.org/genproto v0.0.0-20260803160001-6ac0973c030d // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260803160001-6ac0973c030d // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)

replace lockcheck => ../../../..

// That of etcd 3.4; lockcheck itself requires a newer one.
replace github.com/gogo/protobuf => github.com/gogo/protobuf v1.2.1

// The last version whose balancers etcd 3.4 compiles with.
replace google.golang.org/grpc => google.golang.org/grpc v1.26.0

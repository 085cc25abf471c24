module lockcheck/clusters/client/libraries/rueidislock

go 1.26.8

require (
	github.com/redis/rueidis v1.0.79
	lockcheck v0.0.0
)

require golang.org/x/sys v0.49.0 // indirect

replace lockcheck => ../../../..

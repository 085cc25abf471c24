package zookeeper

import (
	"fmt"
	"path"
	"strings"

	"lockcheck/clusters"
)

const (
	clientPort = "2181"
	peerPort   = "2888"
	votePort   = "3888"
)

const (
	logName  = "zookeeper" // zookeeper.log, and the name of the data directory
	imageCfg = "/conf/zoo.cfg"
)

// member is one server's place in the ensemble.
type member struct {
	id   int // from 1
	addr string
}

// logging is for the jars of a release, which log everything without it. Debian's do not look at it.
const logging = `<configuration>
  <appender name="console" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{ISO8601} %-5level [%thread] %logger{0} - %message%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="console"/></root>
</configuration>
`

// logOptions are the same for the logger that Debian's jars are given.
var logOptions = []string{
	"-Dorg.slf4j.simpleLogger.showDateTime=true",
	"-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSS",
	"-Dorg.slf4j.simpleLogger.showShortLogName=true",
}

// config is the configuration file of one server. Every port is bound to the server's own address.
func config(self member, all []member, data string, v values) []byte {
	var text strings.Builder
	for _, s := range settings {
		fmt.Fprintf(&text, "%s=%s\n", s.Name, v[s.Name])
	}
	fmt.Fprintf(&text, "dataDir=%s\nclientPort=%s\nclientPortAddress=%s\nadmin.enableServer=false\n", data, clientPort, self.addr)
	if len(all) > 1 { // without any it stands alone
		for _, m := range all {
			fmt.Fprintf(&text, "server.%d=%s:%s:%s\n", m.id, m.addr, peerPort, votePort)
		}
	}
	return []byte(text.String())
}

// command completes what the site starts a server by. data is the server's data directory.
func command(server clusters.Command, self member, all []member, data string, v values) clusters.Command {
	server.Log, server.Data = logName, logName
	file := path.Join(data, "zoo.cfg")
	if server.InImage {
		file = imageCfg
		// The image's script starts Java; it makes -Xmx of ZK_SERVER_HEAP.
		server.Env = append(server.Env, "JMXDISABLE=true", "ZK_SERVER_HEAP=128", "SERVER_JVMFLAGS="+strings.Join(jvmOptions[1:], " "))
	} else {
		logback := path.Join(data, "logback.xml")
		server.Args = append(append([]string{}, server.Args...), logOptions...)
		server.Args = append(server.Args, "-Dlogback.configurationFile="+logback, mainClass, file)
		server.Files = map[string][]byte{logback: []byte(logging)}
	}
	if server.Files == nil {
		server.Files = map[string][]byte{}
	}
	server.Files[file] = config(self, all, data, v)
	server.Files[path.Join(data, "myid")] = fmt.Appendf(nil, "%d\n", self.id)
	return server
}

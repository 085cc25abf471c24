# Read by zkServer.sh and zkCli.sh with their own arguments: where the configuration is and how the JVM is started.
# The variables are those of ZooKeeper's administrator's guide.

if [ "${1:-}" = --config ] && [ $# -gt 1 ]; then
    ZOOCFGDIR=$2
    shift 2
fi
ZOOCFGDIR=${ZOOCFGDIR:-/conf}
for settings in zookeeper-env.sh java.env; do
    [ ! -f "$ZOOCFGDIR/$settings" ] || . "$ZOOCFGDIR/$settings"
done
ZOOCFG=$ZOOCFGDIR/${ZOOCFG:-zoo.cfg}
ZOO_LOG_DIR=${ZOO_LOG_DIR:-/logs}

JAVA=${JAVA_HOME:+$JAVA_HOME/bin/}java
# The configuration's folder first, so that its log4j.properties wins over the one in defaults, which logs to the console.
# zookeeper.jar names what it needs in its manifest, but for the logging and, for the admin server, the servlet API.
CLASSPATH=$ZOOCFGDIR:${CLASSPATH:+$CLASSPATH:}$(printf '%s:' /usr/share/java/{zookeeper,slf4j-log4j12,log4j-1.2,servlet-api}.jar)/usr/share/zookeeper/defaults

SERVER_JVMFLAGS="-Xmx${ZK_SERVER_HEAP:-1000}m ${SERVER_JVMFLAGS:-}"
CLIENT_JVMFLAGS="-Xmx${ZK_CLIENT_HEAP:-256}m ${CLIENT_JVMFLAGS:-}"

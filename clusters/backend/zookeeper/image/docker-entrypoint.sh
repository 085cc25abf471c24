#!/bin/bash
# Writes the configuration and the server's number from the environment where there are none, and gives up root.
set -e

if [[ ${1:-} = zkServer.sh && $(id -u) = 0 ]]; then
    chown -R zookeeper "$ZOO_DATA_DIR" "$ZOO_DATA_LOG_DIR" "$ZOO_LOG_DIR"
    exec setpriv --reuid zookeeper --regid zookeeper --clear-groups "$0" "$@"
fi

config=$ZOO_CONF_DIR/zoo.cfg
if [[ ! -f $config ]]; then
    {
        cat <<-END
		dataDir=$ZOO_DATA_DIR
		dataLogDir=$ZOO_DATA_LOG_DIR
		tickTime=$ZOO_TICK_TIME
		initLimit=$ZOO_INIT_LIMIT
		syncLimit=$ZOO_SYNC_LIMIT
		autopurge.snapRetainCount=$ZOO_AUTOPURGE_SNAPRETAINCOUNT
		autopurge.purgeInterval=$ZOO_AUTOPURGE_PURGEINTERVAL
		maxClientCnxns=$ZOO_MAX_CLIENT_CNXNS
		standaloneEnabled=$ZOO_STANDALONE_ENABLED
		admin.enableServer=$ZOO_ADMINSERVER_ENABLED
		END
        # Both are lists, one entry a word.
        printf '%s\n' ${ZOO_SERVERS:-'server.1=localhost:2888:3888;2181'}
        [[ -z ${ZOO_4LW_COMMANDS_WHITELIST:-} ]] || echo "4lw.commands.whitelist=$ZOO_4LW_COMMANDS_WHITELIST"
        [[ -z ${ZOO_CFG_EXTRA:-} ]] || printf '%s\n' $ZOO_CFG_EXTRA
    } >"$config"
fi

[[ -f $ZOO_DATA_DIR/myid ]] || echo "${ZOO_MY_ID:-1}" >"$ZOO_DATA_DIR/myid"

exec "$@"

#!/bin/sh
# Prints what a fleet costs: 50 idle hosts of 100 circuits, a storm of failures, probes under traffic, how fast a trip
# is everywhere, and what calls pay for a link. Fails when there are more statements or probes at once than is promised;
# times and memory are printed only.
# usage: scripts/bench-fleet.sh [SECONDS]    for how long the idle links are watched, 60 by default
set -eu

seconds=${1:-60}
hosts=50
circuits=100

flags='-c release --traits PostgreSQL --scratch-path .build/fleet-release'
# shellcheck disable=SC2086 # $flags is a list
swift build $flags --product breaker-fleet-bench
# shellcheck disable=SC2086
bench=$(swift build $flags --show-bin-path)/breaker-fleet-bench

bin=$(find /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1 | xargs -r dirname)
[ -n "$bin" ] || bin=$(dirname "$(command -v initdb)")
folder=$(mktemp -d)
mkdir "$folder/server" "$folder/idle" "$folder/storm" "$folder/words" "$folder/probes" \
    "$folder/trips" "$folder/beats" "$folder/calls"
server=
clear() {
    [ -z "$server" ] || { kill -QUIT "$server" && wait "$server" || true; }
    rm -rf "$folder"
}
trap clear EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# PostgreSQL refuses root.
if [ "$(id -u)" -eq 0 ]; then
    chmod 711 "$folder"
    chown postgres "$folder/server"
    as='setpriv --reuid postgres --regid postgres --clear-groups'
else
    as=
fi
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# shellcheck disable=SC2086 # $as is a list
(cd "$folder/server" && $as "$bin/initdb" -D data -A trust -U postgres -E UTF8 --locale=C --no-sync >/dev/null)
cd "$folder/server"
# shellcheck disable=SC2086
$as "$bin/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200 \
    -c shared_buffers=32MB 2>log &
server=$!
cd - >/dev/null
until "$bin/pg_isready" -q -h 127.0.0.1 -p "$port" -d postgres; do
    kill -0 "$server" || { tail -n 3 "$folder/server/log"; exit 1; }
    sleep 0.1
done

# A database for each: what one has left there costs the next nothing.
connection() {
    "$bin/psql" -X -q -h 127.0.0.1 -p "$port" -U postgres -d postgres -c "CREATE DATABASE $1"
    "$bin/psql" -X -q -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$port" -U postgres -d "$1" -f docs/fleet.sql
    echo "host=127.0.0.1 port=$port dbname=$1 user=postgres"
}
idle=$(connection idle)
storm=$(connection storm)
words=$(connection words)
probes=$(connection probes)
trips=$(connection trips)
beats=$(connection beats)
calls=$(connection calls)

echo "$hosts hosts of $circuits circuits"
"$bench" prepare "$folder/idle" "$hosts" "$circuits"
"$bench" idle "$folder/idle" 1 12 "$idle"
"$bench" idle "$folder/idle" "$hosts" "$seconds" "$idle"
"$bench" storm "$folder/storm" "$hosts" "$storm"
"$bench" prepare "$folder/words" 2 2000
"$bench" words "$folder/words" 2 "$words"
"$bench" probes "$folder/probes" "$hosts" "$probes"
echo 'with NOTIFY:'
"$bench" trips "$folder/trips" 3 "$trips"
echo 'by the heartbeat alone:'
"$bench" beats "$folder/beats" 3 "$beats"
"$bench" calls "$folder/calls" 1 "$calls"
"$bench" away "$folder/calls" 1 'host=127.0.0.1 port=1'

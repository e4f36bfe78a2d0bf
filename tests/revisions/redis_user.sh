#!/bin/sh
# Starts the server on a socket here, sets 50,000 keys, expires and reads some, and stops it: redis_user.sh SERVER
set -eu
cli=$(dirname "$1")/redis-cli
"$1" --port 0 --unixsocket "$PWD/redis.sock" --save '' --appendonly no >server.log &
server=$!
tries=0
until "$cli" -s redis.sock ping >answer 2>&1; do
  tries=$((tries + 1))
  [ "$tries" -lt 300 ]
  sleep 0.1
done
"$cli" -s redis.sock eval "for i = 1, 50000 do redis.call('set', 'key:' .. i, string.rep('x', i % 200)) end" 0 >answer
"$cli" -s redis.sock eval "for i = 1, 5000 do redis.call('lpush', 'list', i); redis.call('hset', 'hash', i, i) end" 0 >answer
"$cli" -s redis.sock shutdown nosave >answer 2>&1 || true
wait "$server"

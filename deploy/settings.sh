#!/bin/sh
# Generates the passwords, the keys and the certificate of a development installation, one folder per process:
#   sh deploy/settings.sh FOLDER
# docker-compose.yml runs it on volumes; k8s/overlays/local reads its files. It needs openssl and never prints a
# secret. A second run changes nothing, because servers keep the passwords of their first start.
set -eu
umask "${UMASK:-077}"
folder=${1:?'say where: sh deploy/settings.sh FOLDER'}
if [ -e "$folder/ingress/tls.crt" ]; then
  echo "settings.sh: kept what is in $folder"
  exit 0
fi
command -v openssl >/dev/null || { echo 'settings.sh: openssl is not on this machine: install it' >&2 && exit 1; }

for process in authorize token resource console developers operator product migrate postgres redis nats ingress console-ingress developers-ingress; do
  mkdir -p "$folder/$process"
done
cd "$folder"
password() { openssl rand -hex 24; }

# PostgreSQL: the role `migrate` owns the tables. Each process logs in with a role of its own, a member of the role to
# which `migrate` grants the rights of the process (libs/database/src/roles.ts).
password >postgres/superuser-password
database_role() {
  secret=$(password)
  echo "CREATE ROLE $1 LOGIN PASSWORD '$secret'${2:+ IN ROLE $2};"
  echo "DATABASE_URL=postgres://$1:$secret@postgres:5432/oauth" >"$1/database.env"
}
{
  database_role migrate
  for process in authorize token console developers operator; do
    echo "CREATE ROLE oauth_$process NOLOGIN;"
    database_role $process oauth_$process
  done
  cat <<SQL
CREATE DATABASE oauth OWNER migrate;
REVOKE ALL ON DATABASE oauth FROM PUBLIC;
GRANT CONNECT ON DATABASE oauth TO authorize, token, console, developers, operator;
\connect oauth
CREATE SCHEMA oauth AUTHORIZATION migrate;
SQL
} >postgres/roles.sql

# Redis: one user for each process, with the commands and keys of libs/platform/src/redis/redis-rights.ts. Nobody can log
# in as the user default, but Redis needs its permissions at a restart: it executes the append-only file as this user.
redis_user() {
  secret=$(password)
  echo "user $1 on >$secret $2"
  echo "REDIS_URL=redis://$1:$secret@redis:6379" >"$1/redis.env"
}
{
  echo 'user default off resetpass ~* &* +@all'
  redis_user authorize 'resetchannels ~grant:* ~exchanged:{grant:* ~{par}:* ~{device}:* ~session:* ~logged-out:* ~replaced:* ~sessions-of-user:* ~sessions-of-sid:* ~ended:* ~unnamed:* ~flash:* ~logout:* ~logout-return:* ~{login}:* ~{throttle}:* -@all +@connection -@admin -@dangerous +eval +evalsha +time +info +acl|whoami +acl|dryrun +cluster|slots +cluster|info +copy +del +exists +expire +get +getdel +getex +hdel +hget +hincrby +hmget +hset +hsetnx +incrby +pexpire +pttl +rename +sadd +set +smembers +srem +ttl +zadd +zcard +zrange +zrem +zremrangebyrank +zremrangebyscore +zrevrange'
  redis_user token 'resetchannels ~grant:* ~exchanged:{grant:* ~{par}:* ~{device}:* ~assertions:* ~dpop:* ~dpop-from:* ~event-requests:* -@all +@connection -@admin -@dangerous +eval +evalsha +time +info +acl|whoami +acl|dryrun +cluster|slots +cluster|info +copy +del +exists +expire +get +hdel +hget +hincrby +hmget +hset +hsetnx +incr +pexpire +pttl +rename +set +zadd +zcard +zrange +zremrangebyscore +zscore'
  redis_user console 'resetchannels ~console:* -@all +@connection -@admin -@dangerous +eval +evalsha +time +info +acl|whoami +acl|dryrun +cluster|slots +cluster|info +del +exec +exists +expire +get +getdel +getex +hdel +hget +hgetall +hincrby +hmget +hset +incr +lindex +lpop +lrange +multi +pexpire +pttl +rpop +rpush +sadd +scard +set +smembers +zadd +zremrangebyrank +zrevrange'
  redis_user developers 'resetchannels ~developers:* -@all +@connection -@admin -@dangerous +eval +evalsha +time +info +acl|whoami +acl|dryrun +cluster|slots +cluster|info +del +get +getdel +getex +incr +pexpire +pttl +set'
} >redis/users.acl

# NATS: one user for each process except migrate, and one for your product. Each process also has a user for the audit
# trail, with the same password. nats.conf contains the permissions.
: >nats/passwords.conf
for process in authorize token resource console developers operator product migrate; do
  secret=$(password)
  echo "${process}_password: \"$secret\"" >>nats/passwords.conf
  case $process in
  migrate) ;;
  *) echo "NATS_URL=nats://$process:$secret@nats:4222" ;;
  esac >$process/nats.env
  case $process in
  authorize | token | resource | console | developers | operator | migrate)
    echo "AUDIT_NATS_URL=nats://audit-$process:$secret@nats:4222" >>$process/nats.env
    ;;
  esac
done

# A key of 32 random bytes in base64url, which authorize and token share.
key=$(openssl rand -base64 32 | tr '+/' '-_' | tr -d '=\n')
for process in authorize token; do
  echo "TOKEN_KEYS=$key" >$process/token-keys.env
done

# Keys of ID tokens, one per algorithm. token signs with the private keys; authorize needs only the public keys. The
# format is PEM with escaped line ends.
one_line() { awk '{ printf "%s\\n", $0 }'; }
printf 'ID_TOKEN_KEYS=' | tee token/id-token-keys.env >authorize/id-token-keys.env
for algorithm in 'RSA -pkeyopt rsa_keygen_bits:2048' 'EC -pkeyopt ec_paramgen_curve:P-256' ED25519; do
  # shellcheck disable=SC2086
  private=$(openssl genpkey -algorithm $algorithm 2>/dev/null)
  echo "$private" | one_line >>token/id-token-keys.env
  echo "$private" | openssl pkey -pubout | one_line >>authorize/id-token-keys.env
done
for process in authorize token; do
  echo >>$process/id-token-keys.env
done

# A placeholder for the console's client secret, which this service or your provider issues when you
# register the console.
echo "CONSOLE_CLIENT_SECRET=$(password)" >console/login.env
# A placeholder, too.
echo "DEVELOPERS_CLIENT_SECRET=$(password)" >developers/login.env

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 825 \
  -subj '/CN=scheduling-oauth development' \
  -addext 'subjectAltName=DNS:localhost,DNS:auth.localhost,DNS:base.localhost,DNS:api.localhost,DNS:console.localhost,IP:127.0.0.1' \
  -addext 'extendedKeyUsage=serverAuth' \
  -keyout ingress/key.draft -out ingress/tls.draft 2>/dev/null
# OpenSSL makes a key readable only by its owner, whatever the umask.
cat ingress/key.draft >ingress/tls.key
rm ingress/key.draft
cat ingress/tls.key >console-ingress/tls.key
cat ingress/tls.draft >console-ingress/tls.crt
cat ingress/tls.key >developers-ingress/tls.key
cat ingress/tls.draft >developers-ingress/tls.crt
cat ingress/tls.draft >developers/ca.crt
# Written last: its existence means that everything is complete.
mv ingress/tls.draft ingress/tls.crt
echo "settings.sh: made passwords, keys and a certificate in $folder"

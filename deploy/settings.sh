#!/bin/sh
# Makes the passwords, the token key and the certificate of a development installation, one folder for each process:
#   sh deploy/settings.sh FOLDER
# docker-compose.yml runs it into volumes, k8s/overlays/local reads what it wrote. It needs openssl, and changes
# nothing where it has run before: the servers keep the passwords that they were first started with. It says which of the
# two it did, and never what it made.
set -eu
umask "${UMASK:-077}"
folder=${1:?'say where: sh deploy/settings.sh FOLDER'}
if [ -e "$folder/ingress/tls.crt" ]; then
  echo "settings.sh: kept what is in $folder"
  exit 0
fi
command -v openssl >/dev/null || { echo 'settings.sh: openssl is not on this machine: install it' >&2 && exit 1; }

for process in authorize token resource operator migrate postgres redis nats ingress; do
  mkdir -p "$folder/$process"
done
cd "$folder"
password() { openssl rand -hex 24; }

# PostgreSQL: one role changes tables, the other only what is in them.
owner=$(password) service=$(password)
password >postgres/superuser-password
cat >postgres/roles.sql <<SQL
CREATE ROLE migrate LOGIN PASSWORD '$owner';
CREATE ROLE service LOGIN PASSWORD '$service';
CREATE DATABASE oauth OWNER migrate;
REVOKE ALL ON DATABASE oauth FROM PUBLIC;
GRANT CONNECT ON DATABASE oauth TO service;
\connect oauth
GRANT ALL ON SCHEMA public TO migrate;
GRANT USAGE ON SCHEMA public TO service;
ALTER DEFAULT PRIVILEGES FOR ROLE migrate IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO service;
ALTER DEFAULT PRIVILEGES FOR ROLE migrate IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO service;
SQL
echo "DATABASE_URL=postgres://migrate:$owner@postgres:5432/oauth" >migrate/database.env
for process in authorize token operator; do
  echo "DATABASE_URL=postgres://service:$service@postgres:5432/oauth" >$process/database.env
done

# Redis: no command that configures the server, lists or drops everything.
cache=$(password)
cat >redis/users.acl <<ACL
user default off
user oauth on >$cache ~* &* +@all -@admin -@dangerous +info
ACL
for process in authorize token; do
  echo "REDIS_URL=redis://oauth:$cache@redis:6379" >$process/redis.env
done

# NATS: a user for each process; nats.conf says what it may do.
: >nats/passwords.conf
for process in authorize token resource operator; do
  secret=$(password)
  echo "${process}_password: \"$secret\"" >>nats/passwords.conf
  echo "NATS_URL=nats://$process:$secret@nats:4222" >$process/nats.env
done

# 32 random bytes, base64url: one key, the same for both.
key=$(openssl rand -base64 32 | tr '+/' '-_' | tr -d '=\n')
for process in authorize token; do
  echo "TOKEN_KEYS=$key" >$process/token-keys.env
done

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 825 \
  -subj '/CN=scheduling-oauth development' \
  -addext 'subjectAltName=DNS:localhost,DNS:auth.localhost,DNS:base.localhost,DNS:api.localhost,IP:127.0.0.1' \
  -addext 'extendedKeyUsage=serverAuth' \
  -keyout ingress/key.draft -out ingress/tls.draft 2>/dev/null
# OpenSSL gives a key to its maker only, whatever the umask.
cat ingress/key.draft >ingress/tls.key
rm ingress/key.draft
# Last of all: it says that everything is there.
mv ingress/tls.draft ingress/tls.crt
echo "settings.sh: made passwords, a token key and a certificate in $folder"

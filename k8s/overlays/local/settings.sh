#!/bin/sh
# Generates passwords, keys and a certificate once (deploy/settings.sh), and writes Secrets from them. Those that an
# operator changes later are not in the overlay, because `apply` would write the first values back:
#   sh k8s/overlays/local/settings.sh
# Kustomize's generator would wrap long values, which kubectl reports as a change on every apply.
set -eu
umask 077
cd "$(dirname "$0")"
sh ../../../deploy/settings.sh generated
cd generated

# secret NAME TYPE FILE...: prints a Secret with the variables of .env files, and with other files by their names.
secret() {
  printf '%s\n' --- 'apiVersion: v1' 'kind: Secret' 'metadata:' "  name: $1" "type: $2" 'data:'
  shift 2
  for file; do
    case $file in
    *.env)
      while IFS= read -r line; do
        echo "  ${line%%=*}: $(printf %s "${line#*=}" | openssl base64 -A)"
      done <"$file"
      ;;
    *) echo "  ${file##*/}: $(openssl base64 -A -in "$file")" ;;
    esac
  done
}

{
  for process in authorize token console developers operator; do
    secret database-$process Opaque $process/database.env
  done
  secret database-migrate Opaque migrate/database.env
  for process in authorize token console developers; do
    secret redis-$process Opaque $process/redis.env
  done
  for process in authorize token resource console developers operator product migrate; do
    secret nats-$process Opaque $process/nats.env
  done
  secret postgres-server Opaque postgres/superuser-password postgres/roles.sql
  secret redis-server Opaque redis/users.acl
  secret nats-server Opaque nats/passwords.conf
  secret tls kubernetes.io/tls ingress/tls.crt ingress/tls.key
  secret console-tls kubernetes.io/tls console-ingress/tls.crt console-ingress/tls.key
} >secrets.draft
mv secrets.draft secrets.yaml

{
  secret token-keys Opaque token/token-keys.env
  secret id-token-keys Opaque token/id-token-keys.env
  secret id-token-public-keys Opaque authorize/id-token-keys.env
  secret console-login Opaque console/login.env
  secret developers-login Opaque developers/login.env
} >created-once.draft
mv created-once.draft created-once.yaml

# The registration of the console, with its secret's hash. Kept, because the day would change it.
[ ! -e console-client.yaml ] || exit 0
hash=$(sed 's/^CONSOLE_CLIENT_SECRET=//' console/login.env | tr -d '\n' | openssl dgst -sha256 -r | cut -d ' ' -f 1)
cat >console-client.draft <<YAML
version: 1
clients:
  - client_id: scheduling-console
    name: Console
    type: confidential
    first_party: true
    redirect_uris: ['https://console.localhost:8444/login/callback']
    post_logout_redirect_uris: ['https://console.localhost:8444/logged-out']
    scopes: [openid, profile, email]
    secrets:
      - id: $(echo "$hash" | sed -E 's/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/\1-\2-\3-\4-\5/')
        sha256: $hash
        created_on: $(date -u +%F)
YAML
mv console-client.draft console-client.yaml

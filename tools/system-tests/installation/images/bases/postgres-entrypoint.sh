#!/bin/sh
# Creates the database on the first start and runs the files in /docker-entrypoint-initdb.d, as the official
# image does.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA" && chmod 700 "$PGDATA"
  (umask 077 && printf '%s' "$POSTGRES_PASSWORD" > /tmp/password)
  initdb --username "$POSTGRES_USER" --pwfile /tmp/password --encoding UTF8 --locale C.UTF-8 \
    --auth-local trust --auth-host scram-sha-256
  rm /tmp/password
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  postgres -c listen_addresses= -k /tmp & server=$!
  until pg_isready -q -h /tmp; do sleep 0.1; done
  psql -h /tmp -U "$POSTGRES_USER" -d postgres -v ON_ERROR_STOP=1 -c "create database $POSTGRES_DB"
  for file in /docker-entrypoint-initdb.d/*.sql; do
    psql -h /tmp -U "$POSTGRES_USER" -d "$POSTGRES_DB" -v ON_ERROR_STOP=1 -f "$file"
  done
  kill -INT "$server" && wait "$server"
fi
exec postgres -c "listen_addresses=*" -k /var/run/postgresql

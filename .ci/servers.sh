#!/usr/bin/env bash
# servers.sh FOLDER [TOOLS]: starts a PostgreSQL and an S3 server on free ports of the loopback, and prints the variables that the tests
# read: `eval "$(.ci/servers.sh FOLDER)"`. Data goes to FOLDER, the S3 server's program to TOOLS (FOLDER if it is not given). Installs what
# is missing. Servers of an earlier start in FOLDER are stopped, and their data is deleted.
# servers.sh stop FOLDER: stops them.
set -euo pipefail

# PostgreSQL does not run as root; Debian's package brings this user.
as_postgres() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && runuser -u postgres -- "$@")
    else
        "$@"
    fi
}

newest_postgres() {
    find /usr/lib/postgresql -mindepth 3 -maxdepth 3 -path '*/bin/initdb' 2> /dev/null | sort -V | tail -n 1 | xargs -r dirname
}

stop() {
    if [ -f "$1/postgres/data/postmaster.pid" ]; then
        as_postgres "$(newest_postgres)/pg_ctl" -D "$1/postgres/data" -m immediate -w stop > /dev/null || true
    fi
    if [ -f "$1/s3.pid" ]; then
        kill "$(cat "$1/s3.pid")" 2> /dev/null || true
        rm -f "$1/s3.pid"
    fi
}

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

random_word() {
    head -c 12 /dev/urandom | od -An -tx1 | tr -d ' \n'
}

# wait_for PORT LOG: until something listens there, 30 s at most.
wait_for() {
    for _ in $(seq 300); do
        if (: < "/dev/tcp/127.0.0.1/$1") 2> /dev/null; then return; fi
        sleep 0.1
    done
    echo "servers.sh: nothing listens on port $1:" >&2
    tail "$2" >&2
    exit 1
}

install_servers() {
    if [ -z "$(newest_postgres)" ]; then
        sudo=$([ "$(id -u)" -eq 0 ] || echo sudo)
        $sudo apt-get update -qq
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends postgresql
    fi
    [ -x "$1/bin/versitygw" ] || GOBIN=$1/bin go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
}

start_postgres() {
    local data=$1/postgres bin port password
    bin=$(newest_postgres)
    port=$(free_port)
    password=$(random_word)
    rm -rf "$data"
    mkdir "$data"
    if [ "$(id -u)" -eq 0 ]; then
        chown postgres "$data"
        chmod a+x "$1"
    fi
    if ! as_postgres test -w "$data"; then
        echo "servers.sh: user postgres cannot enter $data: name a folder that others can enter" >&2
        exit 1
    fi
    as_postgres sh -c "umask 077 && echo $password > '$data/password' && mkdir '$data/data'"
    data=$data/data
    # A certificate that is its own root, for tests of TLS.
    {
        as_postgres "$bin/initdb" -D "$data" --username=proofmill --auth=scram-sha-256 --pwfile="$data/../password"
        as_postgres openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=localhost \
            -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' -addext 'basicConstraints=critical,CA:FALSE' \
            -keyout "$data/server.key" -out "$data/server.crt"
        as_postgres "$bin/pg_ctl" -D "$data" -l "$data/../log" -w -t 60 -o "-c listen_addresses=127.0.0.1 -c port=$port \
            -c unix_socket_directories= -c max_connections=300 -c ssl=on" start
    } > "$1/postgres.log" 2>&1 < /dev/null || { cat "$1/postgres.log" "$data/../log" >&2; exit 1; }
    cp "$data/server.crt" "$1/postgres.crt"
    echo "export PROOFMILL_TEST_POSTGRES=postgres://proofmill:$password@127.0.0.1:$port/postgres"
    echo "export PROOFMILL_TEST_POSTGRES_CERTIFICATE=$1/postgres.crt"
}

start_s3() {
    local data=$1/s3 port secret
    port=$(free_port)
    secret=$(random_word)
    rm -rf "$data"
    # A folder is a bucket.
    mkdir -p "$data/buckets/proofmill" "$data/attributes"
    ROOT_ACCESS_KEY=proofmill ROOT_SECRET_KEY=$secret "$2/bin/versitygw" --port "127.0.0.1:$port" \
        posix --sidecar "$data/attributes" "$data/buckets" > "$1/s3.log" 2>&1 < /dev/null &
    echo $! > "$1/s3.pid"
    wait_for "$port" "$1/s3.log"
    echo "export PROOFMILL_TEST_S3=s3://proofmill"
    echo "export AWS_ENDPOINT_URL=http://127.0.0.1:$port AWS_ACCESS_KEY_ID=proofmill AWS_SECRET_ACCESS_KEY=$secret AWS_REGION=us-east-1"
}

if [ "$1" = stop ]; then
    stop "$(realpath "$2")"
    exit
fi
mkdir -p "$1" "${2:-$1}"
folder=$(realpath "$1")
tools=$(realpath "${2:-$1}")
stop "$folder"
install_servers "$tools" >&2
start_postgres "$folder"
start_s3 "$folder" "$tools"

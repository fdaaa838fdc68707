#!/usr/bin/env bash
# Installs the programs that `proofmill bench platform` runs, on Debian (12 or later) and its kin. What is there stays as it is.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin:/usr/local/go/bin

packages=()
need() { command -v "$1" > /dev/null || packages+=("$2"); }
installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null)" = installed ]; }

need openssl openssl
need go golang-go
# The module for Lua brings libluajit2, which Debian's other package, luajit, conflicts with.
need luajit luajit2
need wrk wrk
need ipmitool ipmitool
need nginx nginx
for module in libnginx-mod-http-ndk libnginx-mod-http-lua libnginx-mod-http-brotli-filter; do
    installed "$module" || packages+=("$module")
done
if [ ${#packages[@]} -eq 0 ]; then
    echo "nothing to install"
    exit 0
fi

sudo=$([ "$(id -u)" -eq 0 ] || echo sudo)
new_server=$(command -v nginx > /dev/null || echo yes)
$sudo apt-get update -qq
# At runlevel 1 packages start no services.
$sudo env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -qq -y --no-install-recommends "${packages[@]}"
# The bench runs servers of its own; Debian's would come up with the machine and serve its welcome page.
if [ "$new_server" = yes ] && command -v systemctl > /dev/null; then
    $sudo systemctl disable --now nginx > /dev/null 2>&1 || true
fi
echo "installed ${packages[*]}"

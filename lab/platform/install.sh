#!/usr/bin/env bash
# Installs the programs that `proofmill bench platform` runs, on Debian (12 or later) and its derivatives.
# Installed programs are kept.
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin:/usr/local/go/bin

packages=()
need() { command -v "$1" > /dev/null || packages+=("$2"); }
installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null)" = installed ]; }

need openssl openssl
need go golang-go
# The Lua module depends on libluajit2, which conflicts with Debian's other package, luajit.
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
# At runlevel 1, packages do not start services.
$sudo env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -qq -y --no-install-recommends "${packages[@]}"
# The bench starts its own servers; Debian's would start at boot and serve its welcome page.
if [ "$new_server" = yes ] && command -v systemctl > /dev/null; then
    $sudo systemctl disable --now nginx > /dev/null 2>&1 || true
fi
echo "installed ${packages[*]}"

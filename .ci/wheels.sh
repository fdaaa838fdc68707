#!/usr/bin/env bash
# wheels.sh FOLDER: type-checks the Python package for macOS, Windows and a free-threaded Python, builds its wheel for 64-bit Arm, and runs
# its tests with Debian's Python for Arm under qemu-user. Downloads and builds go into the folder.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath "$1")/wheels
mkdir -p "$folder"
export PYTHONDONTWRITEBYTECODE=1

checked() { env "${@:3}" cargo check --quiet --locked --package proofmill-python --target "$1" --features "proofmill-python/$2"; }
for target in aarch64-apple-darwin x86_64-pc-windows-msvc; do
    checked "$target" abi3 PYO3_NO_PYTHON=1 PYO3_CROSS_PYTHON_VERSION=3.10
done
printf '%s\n' implementation=CPython version=3.14 shared=true abi3=false pointer_width=64 build_flags=Py_GIL_DISABLED > "$folder/free-threaded"
checked x86_64-unknown-linux-gnu extension PYO3_CONFIG_FILE="$folder/free-threaded"

tools/xtask/scripts/wheels.sh aarch64-unknown-linux-gnu
wheel=$(ls target/wheels/proofmill-*-abi3-*aarch64.whl)
python3 -m zipfile -l "$wheel" > "$folder/list"
for file in LICENSE-MIT LICENSE-APACHE LICENSES-THIRD-PARTY LICENSES-RUST.html; do
    grep -q "licenses/$file" "$folder/list" || { echo "$file is not in the wheel"; exit 1; }
done

# Debian's Python, and what it needs, without installing it: apt's lists and downloads are in the folder.
state=$folder/apt
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$folder/debs" "$folder/root"
touch "$state/status"
apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::State=$state" -o "Dir::State::status=$state/status"
    -o "Dir::Cache=$state/cache" -o APT::Sandbox::User=root)
version=$(python3 -c 'import platform; print(platform.freedesktop_os_release()["VERSION_ID"])')
case $version in
12) python=3.11 others=(libssl3) ;;
13) python=3.13 others=(libssl3t64) ;;
*) echo "Debian $version: expected 12 or 13" && exit 1 ;;
esac
packages=("python$python-minimal" "libpython$python-minimal" "libpython$python-stdlib" libc6 libgcc-s1 libstdc++6 zlib1g libexpat1 libffi8
    libsqlite3-0 liblzma5 libbz2-1.0 libuuid1 "${others[@]}")
if [ ! -x "$folder/root/usr/bin/python$python" ]; then
    "${apt[@]}" update
    (cd "$folder/debs" && "${apt[@]}" download "${packages[@]}" && for package in *.deb; do dpkg-deb -x "$package" ../root; done)
fi

rm -rf "$folder/site"
pip=(python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target "$folder/site" --only-binary :all:
    --implementation cp --python-version "$python" --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 --platform any)
grep -E '^(numpy|pytest|hypothesis|tqdm)==' crates/python/tests/requirements.txt > "$folder/requirements.txt"
"${pip[@]}" --requirement "$folder/requirements.txt"
"${pip[@]}" --no-deps --upgrade "$wheel"
# The command that pip installs from it.
rm -rf "$folder/unpacked"
python3 -m zipfile -e "$wheel" "$folder/unpacked"
chmod +x "$folder"/unpacked/proofmill-*.data/scripts/proofmill
for cpu in max,sve=off max,sve256=on; do
    echo "-- $cpu"
    qemu-aarch64 -cpu "$cpu" "$folder"/unpacked/proofmill-*.data/scripts/proofmill cpu
    PYTHONPATH=$folder/site qemu-aarch64 -L "$folder/root" -cpu "$cpu" "$folder/root/usr/bin/python$python" \
        -m pytest -q -p no:cacheprovider crates/python/tests/test_{arrays,circom,goldilocks,hash,merkle,proofs,stark}.py
done

#!/usr/bin/env bash
# python.sh FOLDER [PYTHON...]: installs the package as target/debug/lib_proofmill.so and crates/python/python make it, for each Python (by default
# python3), runs its tests, compares its stubs with it, checks its types, executes the notebook, and compares the gallery with the records.
# snarkjs must be in PATH, and proofmill, proofmill-server and proofmill-bench in target/debug. Environments go into the folder.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath "$1")/wheel
shift
[ $# -gt 0 ] || set -- python3
export PROOFMILL_REQUIRE_SNARKJS=1 PROOFMILL_REQUIRE_PROGRAMS=1 PYTHONDONTWRITEBYTECODE=1

# on_ray PYTHON: runs the tests on Ray's nodes. Ray replaces 127.0.0.1 by the host's address, behind which a firewall may be; here there is
# only the loopback.
on_ray() {
    PROOFMILL_TEST_RAY=1 timeout 600 unshare --map-root-user --net sh -c 'ip link set lo up && exec "$@"' sh \
        "$1" -m pytest -q -p no:cacheprovider crates/python/tests/test_ray.py
}

for python in "$@"; do
    version=$("$python" -c 'import platform; print(platform.python_version())')
    environment=$folder/$version requirements=crates/python/tests/requirements.txt
    # The copy says which versions are installed.
    if ! cmp -s "$requirements" "$environment/requirements.txt"; then
        "$python" -m venv --clear "$environment"
        "$environment/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --requirement "$requirements"
        cp "$requirements" "$environment"
    fi
    echo "-- Python $version"
    package=$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/proofmill
    rm -rf "$package"
    cp -r crates/python/python/proofmill "$package"
    cp target/debug/lib_proofmill.so "$package/_proofmill.abi3.so"
    # The command of pyproject.toml, as pip writes it.
    printf '#!%s\nimport sys\nfrom proofmill._ray_command import main\nsys.exit(main())\n' "$environment/bin/python" > "$environment/bin/proofmill-ray"
    chmod +x "$environment/bin/proofmill-ray"
    "$environment/bin/python" -m pytest -q -p no:cacheprovider crates/python/tests --ignore crates/python/tests/test_ray.py
    if unshare --map-root-user --net true; then
        on_ray "$environment/bin/python"
    else
        echo "Ray's tests need a network namespace: unshare --map-root-user --net failed"
        exit 1
    fi
    # Only type checkers know the module _stubs.
    "$environment/bin/python" -m mypy.stubtest proofmill --allowlist <(echo "proofmill\._stubs")
    "$environment/bin/python" -m mypy --strict --cache-dir "$environment/mypy" --package proofmill
    "$environment/bin/jupyter-execute" examples/python/proofmill.ipynb
    "$environment/bin/python" tools/xtask/scripts/gallery.py --check
done

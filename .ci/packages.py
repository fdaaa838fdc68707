#!/usr/bin/env python3
"""packages.py GROUP...: names of the workspace's packages. Each is in one group: `engine`, which `cargo test` tests; `tools`; or `rest`."""
import json, pathlib, subprocess, sys

command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--locked"]
metadata = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
for package in metadata["packages"]:
    folder = pathlib.Path(package["manifest_path"]).parent.relative_to(metadata["workspace_root"])
    is_tool = folder.parts[0] == "tools" or folder == pathlib.Path("lab/figures")
    group = "engine" if package["id"] in metadata["workspace_default_members"] else "tools" if is_tool else "rest"
    if group in sys.argv[1:]:
        print(package["name"])

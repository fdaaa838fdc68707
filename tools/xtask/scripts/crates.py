#!/usr/bin/env python3
"""cargo xtask crates [--check]: writes ARCHITECTURE.md's list of crates from their manifests, and the README.md of each published crate from the
documentation of its lib.rs, or compares them; and checks the rules between the houses. The list is in the order of dependencies, from the programs down."""
import json, re, subprocess, sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HOUSES = {"crates": "The engine", "service": "The service", "lab": "The laboratory", "tools": "Tools of development"}
BEGIN, END = "<!-- crates -->", "<!-- / -->"
# Of a README whose lib.rs speaks to others than those who find it in a registry.
OWN_README = {"proofmill"}


def packages():
    """The workspace's packages by name, without `proofmill-`: manifest, folder, and the names of those that each depends on."""
    command = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"]
    listed = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)["packages"]
    short = {each["name"]: each["name"].removeprefix("proofmill-") for each in listed}
    found = {}
    for each in listed:
        below = {short[one["name"]] for one in each["dependencies"] if one["kind"] != "dev" and one["name"] in short}
        folder = Path(each["manifest_path"]).parent.relative_to(ROOT)
        found[short[each["name"]]] = {"package": each, "folder": folder, "below": below}
    return found


def all_below(found, name):
    below = found[name]["below"]
    return below.union(*(all_below(found, one) for one in below))


def floor(found, name):
    return 1 + max((floor(found, one) for one in found[name]["below"]), default=-1)


def climbs(found):
    """Crates of the engine that know the service or the laboratory, and of the service that know a prover. Two may: the command contains the
    service's prover, and `testing`, which only tests use, has the features of all packages."""
    allowed = {("cli", "service"), ("testing", "service")}
    for name, each in found.items():
        house = each["folder"].parts[0]
        for one in each["below"]:
            other = found[one]["folder"].parts[0]
            if house == "crates" and other not in ("crates",) and (name, other) not in allowed:
                yield f"{name} is of the engine and depends on {one} in {other}/"
    if "proofmill" in all_below(found, "server"):
        yield "server depends on the prover"


def table(found):
    """A table for each house. A crate's last column has those under it, without those that these stand on themselves."""
    text = []
    for house, title in HOUSES.items():
        names = [name for name, each in found.items() if each["folder"].parts[0] == house]
        text.append(f"\n### {title}: `{house}/`\n\n| crate | content | stands on |\n|---|---|---|")
        for name in sorted(names, key=lambda name: (-floor(found, name), name)):
            below = found[name]["below"]
            under = sorted(one for one in below if not any(one in all_below(found, other) for other in below - {one}))
            folder, description = found[name]["folder"], found[name]["package"]["description"]
            text.append(f"| [{name}]({folder}) | {description} | {', '.join(under)} |")
    return "\n".join(text).lstrip("\n") + "\n"


def readme(each):
    """A crate's README: the documentation of its lib.rs, with links to its items as plain names."""
    lines = []
    for line in (ROOT / each["folder"] / "src/lib.rs").read_text().splitlines():
        if not line.startswith("//!"):
            break
        lines.append(line[3:].removeprefix(" "))
    parts = re.split(r"(^```.*?^```$)", "\n".join(lines), flags=re.DOTALL | re.MULTILINE)
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"\[(`?[^\]]+`?)\](\((?!https?:)[^)]*\))?(?!\(http)", r"\1", parts[index])
    for index in range(1, len(parts), 2):
        shown = [line for line in parts[index].splitlines() if line != "#" and not line.startswith("# ")]
        parts[index] = re.sub(r"^```.*$", "```rust", shown[0]) + "\n" + "\n".join(shown[1:])
    name = each["package"]["name"]
    return (
        f"# {name}\n\n{''.join(parts)}\n\nA part of Proofmill. Programs use the crate [`proofmill`](https://crates.io/crates/proofmill), which has all of "
        "it behind one interface.\n"
    )


def main():
    check, found, stale = "--check" in sys.argv, packages(), []
    wanted = {ROOT / each["folder"] / "README.md": readme(each) for name, each in found.items() if each["package"]["publish"] is None and name not in OWN_README}
    drawn = ROOT / "ARCHITECTURE.md"
    before, _, rest = drawn.read_text().partition(BEGIN)
    wanted[drawn] = f"{before}{BEGIN}\n\n{table(found)}\n{END}{rest.partition(END)[2]}"
    for path, text in wanted.items():
        if path.exists() and path.read_text() == text:
            continue
        stale.append(path.relative_to(ROOT))
        if not check:
            path.write_text(text)
    for path in stale:
        print(f"{path}: {'out of date: `cargo xtask crates` writes it' if check else 'written'}")
    wrong = list(climbs(found))
    print("".join(f"{problem}\n" for problem in wrong), end="")
    sys.exit(bool(wrong) or check and bool(stale))


main()

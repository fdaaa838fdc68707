"""``proofmill ray``: one proof over many machines from the command line, and what it would take."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence

from . import Error, Unsatisfied, bench, groth16, ray
from ._ray_model import LARGEST, Estimate, Machine, Shape, choices, cores_here, costs_of, estimate
from ._ray_prover import serve

__all__ = ["main"]

EXAMPLES = """Examples:
  proofmill ray prove circuit.zkey witness.wtns proof.json public.json --shards 4 --threads 16
  proofmill ray plan --key circuit.zkey --nodes 8 --link 25Gb
  proofmill ray plan --size 2^24 --nodes 64 --link 100Gb --cores 16 --price-per-hour 0.71
"""


def main(words: Sequence[str] | None = None) -> int:
    """Returns the exit status of every command: 0, 1 for a witness that is rejected, 2 for bad input."""
    words = list(sys.argv[1:] if words is None else words)
    if "prover" in words:
        # A worker's arguments for its program come first.
        at = words.index("prover")
        words = ["prover", *words[:at], *words[at + 1 :]]
    options = parser().parse_args(words)
    try:
        {"prove": prove, "prover": prover, "plan": plan}[options.command](options)
    except Unsatisfied as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except (Error, OSError, ValueError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    about = {"epilog": EXAMPLES, "formatter_class": argparse.RawDescriptionHelpFormatter}
    top = argparse.ArgumentParser(prog="proofmill ray", description="One Groth16 proof over many machines.", **about)  # type: ignore[arg-type]
    commands = top.add_subparsers(dest="command", required=True)

    command = commands.add_parser("prove", help="prove with the cluster of RAY_ADDRESS")
    for name in ("ZKEY", "WTNS", "PROOF", "PUBLIC"):
        command.add_argument(name.lower(), metavar=name)
    add_workers(command)
    command.add_argument("--source", help="path of the key on the workers, or a URL (default: as here)")
    command.add_argument("--allow-insecure-setup", action="store_true", help="prove with a key for which anyone can forge proofs")

    command = commands.add_parser("prover", help="execute jobs of `proofmill worker --cluster --program proofmill-ray`, which starts this")
    add_workers(command)
    command.add_argument("--key-memory", help="is not used: the last key's workers stay")

    command = commands.add_parser("plan", help="predict time, memory, traffic and price of a proof by the number of nodes")
    key = command.add_mutually_exclusive_group(required=True)
    key.add_argument("--key", help="a .zkey file")
    key.add_argument("--size", type=size, metavar="2^K", help=f"points of the domain, at most 2^{LARGEST}, with as many wires")
    command.add_argument("--nodes", type=positive, required=True, help="the most nodes")
    command.add_argument("--link", type=link, default="25Gb", help="each node's network a second: 25Gb, 3GB (default: 25Gb)")
    command.add_argument("--cores", type=positive, default=cores_here(), help="of each node (default: of this machine)")
    command.add_argument("--price-per-hour", type=positive_number, metavar="DOLLARS", help="of a node")
    command.add_argument("--runs", help="a store, an export or a record of the bench (default: the store of this user)")
    command.add_argument("--sums-share", type=share, default=Machine.sums_share, help="speed of sums on all cores, as a share")
    command.add_argument("--transforms-share", type=share, default=Machine.transforms_share, help="the same of transforms")
    command.add_argument("--json", action="store_true", help="print JSON")
    return top


def add_workers(command: argparse.ArgumentParser) -> None:
    command.add_argument("--shards", type=positive, required=True, help="workers, among which the key is divided")
    command.add_argument("--threads", type=positive, default=1, help="of each worker (default: 1)")
    command.add_argument("--folder", help="folder on the workers for copies of their slices (default: the key is mapped where it is)")
    command.add_argument("--divided", action=argparse.BooleanOptionalAction, help="evaluate the quotient on the workers (default: from eight on)")


def prover(options: argparse.Namespace) -> None:
    serve(sys.stdin, sys.stdout, options.shards, options.threads, folder=options.folder, divided=options.divided)


def prove(options: argparse.Namespace) -> None:
    where = {name: getattr(options, name) for name in ("threads", "source", "folder", "divided", "allow_insecure_setup")}
    with ray.Prover(options.zkey, options.shards, **where) as prover:
        prover.prove(options.wtns).save(options.proof, options.public)


def plan(options: argparse.Namespace) -> None:
    shape = Shape(*groth16.shape(options.key)) if options.key else Shape(options.size, options.size)
    machine = Machine(options.cores, options.link, options.price_per_hour, options.sums_share, options.transforms_share)
    costs = costs_of(bench.load(options.runs))
    # The faster one, if there are two ways.
    ways = [[estimate(shape, costs, machine, nodes, divided) for divided in (False, True)[: min(nodes, 2)]] for nodes in choices(options.nodes)]
    found = [min(way, key=lambda one: one.seconds) for way in ways]
    fastest = min(found, key=lambda one: one.seconds)
    # A node's price is the same for all, so fewer node-seconds are cheaper also where no price is given.
    cheapest = min(found, key=lambda one: one.nodes * one.seconds)
    if options.json:
        facts = {"shape": vars(shape), "costs": vars(costs), "machine": vars(machine), "estimates": [vars(one) for one in found]}
        print(json.dumps({**facts, "fastest": fastest.nodes, "cheapest": cheapest.nodes}, indent=2))
        return
    print(f"{shape.wires} wires, domain of {shape.domain} points, {gigabytes(shape.key_bytes)} GB of points")
    print(f"measured: {costs.g1 * 1e6:.3g} and {costs.g2 * 1e6:.3g} core-us a point in G1 and G2, {costs.layer * 1e9:.3g} core-ns a butterfly layer")
    print(f"assumed: {machine.cores} cores a node, {machine.link_bytes * 8e-9:g} Gb/s, {machine.sums_share:g} of the cores for sums, "
          f"{machine.transforms_share:g} for transforms\n")  # fmt: skip
    print("nodes  seconds  quotient*  head GB  node GB  wire GB" + ("" if machine.price is None else "  dollars"))
    for one in found:
        print(line(one))
    print("\n* where the quotient is evaluated: on the workers with --divided, on the head with --no-divided")
    print(f"cheapest: {count(cheapest)}; fastest: {count(fastest)}, {found[0].seconds / fastest.seconds:.3g} times as fast as one")


def line(one: Estimate) -> str:
    dollars = "" if one.dollars is None else f"  {one.dollars:7.2g}"
    sizes = "  ".join(f"{gigabytes(size):>7}" for size in (one.head_bytes, one.node_bytes, one.wire_bytes))
    return f"{one.nodes:5}  {one.seconds:7.3g}  {'workers' if one.divided else 'head':9}  {sizes}{dollars}"


def count(one: Estimate) -> str:
    return f"{one.nodes} node{'s' * (one.nodes > 1)}"


def gigabytes(size: int) -> str:
    return f"{size / 1e9:.3g}"


def positive(text: str) -> int:
    if not re.fullmatch("[0-9]{1,6}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 999999, found {text!r}")
    return int(text)


def size(text: str) -> int:
    found = re.fullmatch(r"2\^([0-9]{1,2})", text)
    if not found or not 1 <= int(found[1]) <= LARGEST:
        raise argparse.ArgumentTypeError(f"expected 2^1 to 2^{LARGEST}, found {text!r}")
    return 1 << int(found[1])


def positive_number(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) or float(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a number above 0, found {text!r}")
    return float(text)


def share(text: str) -> float:
    if (value := positive_number(text)) > 1:
        raise argparse.ArgumentTypeError(f"expected a share of at most 1, found {text!r}")
    return value


def link(text: str) -> float:
    found = re.fullmatch(r"([0-9.]+)G([bB])(/s)?", text)
    if not found:
        raise argparse.ArgumentTypeError(f"expected gigabits or gigabytes, such as 25Gb or 3GB, found {text!r}")
    return positive_number(found[1]) * 1e9 / (8 if found[2] == "b" else 1)


if __name__ == "__main__":
    sys.exit(main())

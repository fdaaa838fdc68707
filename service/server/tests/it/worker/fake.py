#!/usr/bin/env python3
"""fake.py [STATE] prover: stands for `proofmill prover`, and does what key files say: JSON objects with "do".

STATE is a folder for what outlasts the process: `log`, a line for each beginning and end of a task.
"""
import json, os, queue, signal, subprocess, sys, threading, time

STATE = sys.argv[1] if sys.argv[1] != "prover" else None
KEPT = []
VERSION = os.path.join(STATE, "version") if STATE else ""


def reply(reply, **fields):
    sys.stdout.write(json.dumps({"reply": reply, **fields}) + "\n")
    sys.stdout.flush()


def log(*words):
    if STATE:
        with open(os.path.join(STATE, "log"), "a") as file:
            file.write(" ".join(map(str, words)) + "\n")


def sleep_for_ever():
    while True:
        time.sleep(1000)


def fail(message, transient):
    reply("failed", message=message, transient=transient)


def execute(request):
    task = request["task"]
    if task["type"] == "empty":
        return reply("finished", phases=[])
    key = json.load(open(request["keys"][task["key"]]))
    witness = open(request["inputs"]["witness"]).read()
    log("begin", os.getpid(), request["threads"], task["key"], witness)
    what = key["do"]
    reply("phase", name="first")
    if what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "exit":
        os._exit(3)
    if what in ["crash-once", "hang-once"] and not os.path.exists(os.path.join(STATE, "once")):
        open(os.path.join(STATE, "once"), "w").close()
        os._exit(4) if what == "crash-once" else sleep_for_ever()
    if what == "fail":
        return fail("the witness\nis wrong", False)
    if what == "fail-transient":
        return fail("the disk is full", True)
    if what == "environment":
        return fail(" ".join(sorted(os.environ)), False)
    if what == "garbage":
        print("this is no reply", flush=True)
        sleep_for_ever()
    if what == "endless-line":
        while True:
            sys.stdout.write("x" * 65536)
    if what == "endless-phases":
        while True:
            reply("phase", name="again")
    if what == "memory":
        for step in range(10):
            reply("phase", name=f"step {step}")
            block = bytearray(key["mebibytes"] << 20)
            for place in range(0, len(block), 4096):
                block[place] = 1
        sleep_for_ever()
    if what == "keep" and not KEPT:
        KEPT.append(bytearray(os.urandom(1 << 20)) * key["mebibytes"])
    if what == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "1000"])
        log("child", child.pid)
        sleep_for_ever()
    if what == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if what == "errors":
        for _ in range(1000):
            sys.stderr.write("error\n" * 10 + "e" * 100_000 + "\n")
    time.sleep(key.get("seconds", 0))
    reply("phase", name="second")
    output = lambda name: os.path.join(request["outputs"], name)
    if what != "no-output":
        for name in ["proof", "public"]:
            with open(output(name), "w") as file:
                # Outputs that are not small take another way.
                json.dump([name, witness] + (["x" * key["pad"]] if "pad" in key else []), file)
    if what == "another-output":
        open(output("another"), "w").close()
    if what == "link-as-output":
        os.remove(output("proof"))
        os.symlink(request["inputs"]["witness"], output("proof"))
    if what == "text-as-output":
        with open(output("proof"), "w") as file:
            file.write("[1, 2")
    if what == "large-output":
        os.truncate(output("public"), (1 << 30) + 1)
    log("end", os.getpid(), witness)
    reply("finished", phases=[{"name": "first", "seconds": 0.5}], peak_memory=1000)


def inspect(request):
    key = json.load(open(request["path"]))
    if key["inspect"] == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if key["inspect"] == "fail":
        return fail("no key", False)
    reply("key", kind="groth16", domain=4, public=1, memory=1000)


def read(lines):
    for line in sys.stdin:
        lines.put(line)
    if not (STATE and os.path.exists(os.path.join(STATE, "hang-at-end"))):
        os._exit(0)


def main():
    log("start", os.getpid(), *sys.argv[2:])
    version = open(VERSION).read() if os.path.exists(VERSION) else "0.1.0"
    reply("ready", version=version, level="none", cpu="a test", threads=4, memory=1 << 30)
    lines = queue.Queue()
    threading.Thread(target=read, args=[lines], daemon=True).start()
    while True:
        request = json.loads(lines.get())
        execute(request) if request["request"] == "execute" else inspect(request)


main()

#!/usr/bin/env python3
"""cycles.py: finds import cycles among the modules of a crate.

Reads `use` and inline paths in every file of the crates, resolves re-exports to the declaring modules, and prints the cycles.
Inline test modules are ignored. Imports of a folder's files from the folder's own module are allowed; `--strict` reports their
cycles, too.
"""
import pathlib, re, sys

TESTS = re.compile(r"#\[cfg\(test\)\]\n(?:#\[.*\]\n)*mod tests \{")
TOKEN = re.compile(r"\b(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);|\b((?:crate|super|self)(?:::\w+)+)")


def expand(path):
    """The paths of a nested import, as (path, alias)."""
    path = path.strip()
    brace = path.find("{")
    if brace < 0:
        path, _, alias = path.partition(" as ")
        return [(path.strip(), alias.strip() or path.strip().split("::")[-1])]
    prefix, depth, item, paths = path[:brace].strip(), 0, "", []
    for character in path[brace + 1 : path.rindex("}")] + ",":
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            if item.strip():
                paths += expand(prefix + item.strip())
            item = ""
        else:
            item += character
    return paths


class Crate:
    def __init__(self, root):
        self.texts = {}
        for file in root.rglob("*.rs"):
            module = file.relative_to(root).with_suffix("").parts
            if module[-1] in ("mod", "lib", "main"):
                module = module[:-1]
            text = re.sub(r"//[^\n]*", "", file.read_text())
            text = TESTS.split(text)[0]
            self.texts[module] = self.texts.get(module, "") + text
        self.exports = {module: {} for module in self.texts}
        for module, text in self.texts.items():
            for path in re.findall(r"\bpub(?:\([^)]*\))?\s+use\s+([^;]+);", text):
                for single, name in expand(path):
                    self.exports[module][name] = single

    def absolute(self, module, path):
        """A path's parts from the crate's root; None for a path into another crate."""
        parts = path.split("::")
        if parts[0] == "crate":
            return parts[1:]
        if parts[0] in ("self", "super"):
            base = list(module)
            while parts and parts[0] in ("self", "super"):
                base = base[:-1] if parts.pop(0) == "super" else base
            return base + parts
        return list(module) + parts if module + (parts[0],) in self.texts else None

    def resolve(self, parts, seen=()):
        """The module that declares the item of a path."""
        module = ()
        for i, name in enumerate(parts):
            if module + (name,) in self.texts:
                module += (name,)
                continue
            again = self.exports[module].get(name)
            if again and (module, name) not in seen:
                target = self.absolute(module, again)
                if target is not None:
                    return self.resolve(target + list(parts[i + 1 :]), seen + ((module, name),))
            break
        return module

    def edges(self):
        edges = {}
        for module, text in self.texts.items():
            targets = edges.setdefault(module, set())
            for match in TOKEN.finditer(text):
                if match[1] and match[0].startswith("pub"):
                    continue
                for path, _ in expand(match[1]) if match[1] else [(match[2], "")]:
                    parts = self.absolute(module, path)
                    if parts is not None:
                        targets.add(self.resolve(parts))
            targets.discard(module)
        return edges


def cycles(edges):
    """The strongly connected components of more than one module (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in edges[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            component = stack[stack.index(v) :]
            del stack[stack.index(v) :]
            if len(component) > 1:
                found.append(sorted(component))

    for v in edges:
        if v not in index:
            visit(v)
    return found


def main():
    strict = "--strict" in sys.argv
    count = 0
    root = pathlib.Path(__file__).resolve().parent.parent
    for source in sorted(path for house in ("crates", "service", "lab") for path in root.glob(f"{house}/*/src")):
        edges = Crate(source).edges()
        if not strict:
            edges = {v: {w for w in ws if v[: len(w)] != w} for v, ws in edges.items()}
        for cycle in cycles(edges):
            count += 1
            print(f"{source.parent.name}: {', '.join('::'.join(module) or 'the root' for module in cycle)} import each other")
    sys.exit(count > 0)


main()

"""Where Proofmill's programs keep what they share with this package."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def _data_home(*, native: bool) -> Path:
    """The user's data folder: that of the XDG specification, or with ``native`` the one that Windows has."""
    if native and sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData/Roaming")
    home = Path(os.environ.get("XDG_DATA_HOME", ""))
    return home if home.is_absolute() else Path.home() / ".local/share"


def server_data() -> Path:
    """The data folder of ``proofmill serve``, which has the files ``address`` and ``token``."""
    named = os.environ.get("PROOFMILL_DATA")
    return Path(named) if named else _data_home(native=True) / "proofmill/server"


def bench_store() -> Path:
    """The store of ``proofmill bench``."""
    named = os.environ.get("PROOFMILL_BENCH_DB")
    return Path(named) if named else _data_home(native=False) / "proofmill/bench.db"

"""Runs a function once a module has been imported: now if it has been, else as soon as that happens.

vLLM calls a plug-in in each of its processes, early in some of them. Importing the engine there, only to change it,
would cost time and memory in processes that never use it.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["after_import"]


def after_import(name: str, function: Callable[[], None]) -> None:
    """Call ``function`` once the module ``name`` has been imported."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    if module is not None and not getattr(spec, "_initializing", False):
        function()
    elif module is not None and spec is not None and spec.loader is not None:
        # It is being imported right now: nothing tells when that is over, and half of it may be enough.
        raise ImportError(f"{name} is being imported just now")
    else:
        sys.meta_path.insert(0, _Finder(name, function))


class _Finder(MetaPathFinder):
    """Finds one module as it would be found, with a loader that calls the function."""

    def __init__(self, name: str, function: Callable[[], None]) -> None:
        self._name, self._function = name, function

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's spec with the other loader; ``None`` for any other module."""
        if fullname != self._name:
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._function)
        return spec


class _Loader(Loader):
    """Loads a module by its own loader, and calls the function then."""

    def __init__(self, inner: Loader, function: Callable[[], None]) -> None:
        self._inner, self._function = inner, function

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """What the module's own loader makes."""
        return self._inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, and call the function behind it."""
        # The module sees the loader that it would have had.
        module.__loader__ = self._inner
        if module.__spec__ is not None:
            module.__spec__.loader = self._inner
        self._inner.exec_module(module)
        self._function()

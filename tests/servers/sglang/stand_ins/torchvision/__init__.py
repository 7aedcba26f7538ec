"""In place of torchvision, whose only builds on PyPI are for CUDA: names to import, and nothing behind them.

SGLang imports torchvision with its image processors, which a text model never calls.
"""

import enum
import importlib.machinery
import sys
import types

__version__ = "0.0.0"


class InterpolationMode(enum.Enum):
    """The modes that transformers lists in a table when it is imported."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


def disable_beta_transforms_warning():
    """Nothing warns here."""


def _missing(name):
    def call(*args, **kwargs):
        raise RuntimeError(f"torchvision is not installed, and {name} was called")

    return call


def _module(name):
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    module.__path__ = []
    module.InterpolationMode = InterpolationMode

    def lookup(attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        if attribute[0].isupper():
            return type(attribute, (), {})
        return _missing(f"{name}.{attribute}")

    module.__getattr__ = lookup
    sys.modules[name] = module
    return module


io = _module("torchvision.io")
transforms = _module("torchvision.transforms")
transforms.functional = _module("torchvision.transforms.functional")
transforms.v2 = _module("torchvision.transforms.v2")
transforms.v2.functional = _module("torchvision.transforms.v2.functional")

"""Which field of which class is annotated with a name that nothing has: ``when: "dattime"``.

Annotations in quotes, and all of a module with ``from __future__ import annotations``, are texts that are read late. An
error about the class alone leaves one to look for the slip among all of its fields.
"""

from __future__ import annotations

import builtins
import inspect
import sys
import typing
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ForwardRef, Literal, get_args, get_origin

from interlock._core import UnsupportedError
from interlock.output_types.python_types.field_places import pointer_of_place
from interlock.util.near_words import nearest

__all__ = ["unresolved_name", "unresolved_parameter"]

_MODULE = "names in quotes are looked up in the module of the {0}: define or import it there, at the top level"


def unresolved_name(hint: Any, place: str = "") -> UnsupportedError | None:
    """The error for the first field in ``hint`` whose annotation has a name that is not defined; ``None`` if none has.
    ``place`` is where ``hint`` stands.

    >>> class Order(typing.TypedDict):
    ...     when: "dattime"
    >>> print(str(unresolved_name(Order)).partition(";")[0])
    no type is found for Order.when: the name 'dattime' is not defined
    """
    for owner, field, name, where in _unresolved(hint, place, set()):
        near = _near(name, _module_of(owner))
        error = UnsupportedError(
            f"no type is found for {owner.__name__}.{field}: the name {name!r} is not defined{near}; "
            + _MODULE.format("class")
        )
        error.pointer = pointer_of_place(where)
        return error
    return None


def unresolved_parameter(function: Any, error: NameError) -> UnsupportedError:
    """The same for a parameter of a function, whose annotations raised ``error`` when they were read."""
    known: Mapping[str, Any] = getattr(function, "__globals__", {})
    found = next(((name, one) for name, one in _annotations(function).items() if _missing(one, known, {})), None)
    where = f"the parameter {found[0]!r} of {function.__name__}" if found else function.__name__
    refused = UnsupportedError(
        f"no type is found for {where}: the name {error.name!r} is not defined{_near(error.name or '', known)}; "
        + _MODULE.format("function")
    )
    if found is not None:
        refused.pointer = pointer_of_place(found[0])
    return refused


def _near(name: str, known: Mapping[str, Any]) -> str:
    """What is probably meant, of the names of a module."""
    names = {one for one in {*known, *vars(builtins), *typing.__all__} if not one.startswith("_")}
    near = nearest(name, sorted(names), 0.75)
    return f" (did you mean {near!r}?)" if near else ""


def _unresolved(hint: Any, place: str, seen: set[Any]) -> Iterator[tuple[type, str, str, str]]:
    """The classes and fields in ``hint`` that have names that are not defined, these names, and their places."""
    if (origin := get_origin(hint)) is not None:
        for at, arg in enumerate(get_args(hint)):
            step = ""
            if isinstance(origin, type) and issubclass(origin, Mapping):
                step = "{}" if at else " keys"
            elif origin is tuple and Ellipsis not in get_args(hint):
                step = f"[{at}]"
            elif isinstance(origin, type) and hasattr(origin, "__iter__"):
                step = "[]"
            yield from _unresolved(arg, place + step, seen)
        return
    if not isinstance(hint, type) or hint in seen:
        return
    seen.add(hint)
    for owner in hint.__mro__:
        # A model of pydantic knows the names beside it in a function.
        local = {**(getattr(owner, "__pydantic_parent_namespace__", None) or {}), **vars(owner)}
        for field, annotation in _annotations(owner).items():
            at_field = f"{place}.{field}".lstrip(".")
            missing = _missing(annotation, _module_of(owner), local)
            if missing:
                yield owner, field, missing, at_field
            else:
                yield from _unresolved(_read(annotation, _module_of(owner), local), at_field, seen)


def _module_of(owner: type) -> dict[str, Any]:
    return vars(sys.modules.get(owner.__module__, builtins))


def _annotations(owner: Any) -> dict[str, Any]:
    """The annotations of a class or function itself, texts as they are. Python 3.14 reads all of them late."""
    try:
        return dict(inspect.get_annotations(owner))
    except NameError:
        import annotationlib  # type: ignore[import-not-found, unused-ignore]

        return dict(annotationlib.get_annotations(owner, format=annotationlib.Format.FORWARDREF))


def _missing(annotation: Any, known: Mapping[str, Any], local: Mapping[str, Any]) -> str:
    """The name in an annotation's texts that is not defined; ``""`` if there is none."""
    try:
        read = _read(annotation, known, local, is_strict=True)
    except NameError as error:
        return error.name or ""
    except Exception:
        return ""  # Another mistake, of which other errors speak.
    # Texts in a Literal, and what is noted beside a type, are no names.
    args = () if get_origin(read) is Literal else get_args(read)
    args = args[:1] if get_origin(read) is Annotated else args
    return next((name for arg in args if (name := _missing(arg, known, local))), "")


def _read(annotation: Any, known: Mapping[str, Any], local: Mapping[str, Any], is_strict: bool = False) -> Any:
    """The type that a text means; unless ``is_strict``, the text where it cannot be read."""
    read = annotation
    for _ in range(3):  # Quotes below ``from __future__ import annotations`` make a text of a text.
        text = read.__forward_arg__ if isinstance(read, ForwardRef) else read
        if not isinstance(text, str):
            return read
        try:
            read = eval(text, dict(known), dict(local))
        except Exception:
            if is_strict:
                raise
            return annotation
    return annotation

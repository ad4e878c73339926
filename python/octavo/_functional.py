# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""graph(), jit() and graph_cache(): short ways to a built graph."""

import collections
import contextlib
import functools
from typing import Any, Callable, Iterator, List, Sequence, Tuple, Union

from ._enums import data_type, heur_mode
from ._pygraph import pygraph


@contextlib.contextmanager
def graph(
    handle: Any, name: str = "cudnn_graph", io_data_type: Any = data_type.HALF, intermediate_data_type: Any = data_type.FLOAT,
    compute_data_type: Any = data_type.FLOAT, **graph_kwargs: Any,
) -> Iterator[Tuple[pygraph, List[Any]]]:  # fmt: skip
    """``with graph(handle) as (g, _): ...``"""
    yield (
        pygraph(
            name=name, io_data_type=io_data_type, intermediate_data_type=intermediate_data_type,
            compute_data_type=compute_data_type, handle=handle, **graph_kwargs,
        ),
        [],
    )  # fmt: skip


def jit(heur_modes: Union[heur_mode, Sequence[heur_mode]] = heur_mode.A, **kwargs: Any) -> Callable[..., Any]:
    """Decorates a function that returns (graph, [tensors]): the graph comes back built, with the tensors' uids."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kw: Any) -> Tuple[Any, List[int]]:
            made, tensors = function(*args, **kw)
            if made.get_execution_plan_count() == 0:
                made.build(list(heur_modes) if isinstance(heur_modes, (list, tuple)) else [heur_modes])
            return made, [t.get_uid() for t in tensors]

        return wrapped

    return decorate


def graph_cache(key_fn: Callable[..., Any], maxsize: int = 256) -> Callable[..., Any]:
    """Decorates a function: its result is kept by key_fn(*args, **kwargs), the oldest used goes first."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        kept: "collections.OrderedDict[Any, Any]" = collections.OrderedDict()

        @functools.wraps(function)
        def wrapped(*args: Any, **kw: Any) -> Any:
            key = key_fn(*args, **kw)
            if key in kept:
                kept.move_to_end(key)
                return kept[key]
            result = kept[key] = function(*args, **kw)
            while len(kept) > maxsize:
                kept.popitem(last=False)
            return result

        return wrapped

    return decorate

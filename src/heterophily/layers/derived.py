"""What follows from a prepared operator, worked out once and remembered as long as it lives."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import TypeVar
from weakref import WeakKeyDictionary

from heterophily.layers.propagation import Propagation

T = TypeVar("T")


def derived(compute: Callable[[Propagation], T]) -> Callable[[Propagation], T]:
    """Remember the answer of a function of one operator, per operator object.

    Operators are only read after they are made, and shared by all replicas of a process; so what
    follows from one (its edge list, its two-hop pattern, ...) need not be an option of the inputs.

    >>> import scipy.sparse as sp
    >>> operator = Propagation.from_scipy(sp.eye_array(2, format="csr"))
    >>> calls = []
    >>> count = derived(lambda operator: calls.append(1) or operator.num_nodes)
    >>> count(operator), count(operator), len(calls)
    (2, 2, 1)
    """
    found: WeakKeyDictionary[Propagation, tuple[T]] = WeakKeyDictionary()
    lock = Lock()  # of the dictionary; two threads may compute the same answer, one is kept

    @wraps(compute)
    def remembered(operator: Propagation) -> T:
        with lock:
            known = found.get(operator)
        if known is None:
            answer = (compute(operator),)
            with lock:
                known = found.setdefault(operator, answer)
        return known[0]

    return remembered

"""Damage to bytes and to plain data, drawn from a generator: the same seed, the same damage."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np

TOKENS = (
    *(b"nan", b"inf", b"-inf", b"1e400", b"-1", b"0", b"1.5", b"9" * 40, b"9" * 5000, b"1e-400"),
    *(b'"', b"'", b",", b"\t", b";", b"\n", b"\r", b"\r\n", b"\x00", b"\xef\xbb\xbf", b"\xff\xfe"),
    *(b"\xed\xa0\x80", "\u202e".encode(), "é".encode(), b"[" * 3000, b"{" * 300, b"=", b"#"),
    *(b"null", b"true", b"NaN", b"<!ENTITY a 'b'>", b"&amp;", b"</", b"<node id='0'/>", b"../"),
    *(b"18446744073709551616", b"2147483648", b"-9223372036854775809", b"x" * 2000, b"%s", b"\\"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, 10**400, 0.5, -0.0, 1e308, -1e308),
    *("", "a", "nan", "\x00", "\ud800", "../..", "x" * 3000, "🙂", [], {}, [[]], [None], {"a": {}}),
    *(list(range(50)), {"": None}, [[[[[]]]]], float("nan"), float("inf"), "0123456789abcdef"),
)


def bytes_of(data: bytes, rng: np.random.Generator) -> bytes:
    """Return a damaged copy: one to four changes, most often one."""
    out = bytearray(data)
    for _ in range(_few(rng)):
        size = len(out)
        at = int(rng.integers(0, size + 1))
        length = int(rng.integers(1, 1 + min(16, max(1, size))))
        match int(rng.integers(0, 11)):
            case 0 if size:
                out[at % size] ^= 1 << int(rng.integers(0, 8))
            case 1 if size:
                out[at % size] = int(rng.integers(0, 256))
            case 2:
                del out[at : at + length]
            case 3:
                out[at:at] = rng.integers(0, 256, length, dtype=np.uint8).tobytes()
            case 4:
                out[at:at] = out[at : at + length]
            case 5:
                del out[at:]
            case 6 | 7:
                out[at:at] = TOKENS[int(rng.integers(0, len(TOKENS)))]
            case 8 | 9 if size:  # one printed character for another
                out[at % size] = b'0123456789abnt.,-\n" '[int(rng.integers(0, 20))]
            case _:
                token = TOKENS[int(rng.integers(0, len(TOKENS)))]
                out[at : at + int(rng.integers(0, 12))] = token
    return bytes(out)


def _few(rng: np.random.Generator) -> int:
    return 1 if rng.random() < 0.6 else int(rng.integers(2, 5))


def data_of(value: Any, rng: np.random.Generator) -> Any:
    """Return a copy of plain data with one to three parts replaced, removed, added or repeated."""
    out = copy.deepcopy(value)
    for _ in range(_few(rng)):
        holder, key = _place(out, rng)
        if holder is None:
            return VALUES[int(rng.integers(0, len(VALUES)))]
        odd = copy.deepcopy(VALUES[int(rng.integers(0, len(VALUES)))])
        match int(rng.integers(0, 6)):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[str(rng.integers(0, 9))] = odd
            case 1:
                holder.append(odd)
            case 2 if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case _:
                holder[key] = odd
    return out


def _place(value: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Return a random inner place: the container and the key in it."""
    places: list[tuple[Any, Any]] = []
    stack = [value]
    while stack and len(places) < 2000:
        inner = stack.pop()
        keys = list(inner) if isinstance(inner, dict) else range(len(inner))
        if not isinstance(inner, (dict, list)):
            continue
        places += [(inner, key) for key in keys]
        stack += [inner[key] for key in keys if isinstance(inner[key], (dict, list))]
    return places[int(rng.integers(0, len(places)))] if places else (None, None)


def json_of(value: Any) -> bytes:
    """Return data as JSON; NaN and half characters as Python puts them."""
    return json.dumps(value).encode()


def array_of(rng: np.random.Generator, like: np.ndarray) -> np.ndarray:
    """Return an array that is odd in type, shape or values, beside ``like``."""
    match int(rng.integers(0, 8)):
        case 0 if like.dtype.kind != "U":
            kinds = "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 ? >i4 >f8 U3 S3 M8[s] c16"
            with np.errstate(all="ignore"):
                return like.astype(rng.choice(kinds.split()), casting="unsafe")
        case 1:
            return like[..., :-1] if like.ndim else np.array([])
        case 2:
            return np.stack([like, like])
        case 3:
            return np.array(like.ravel())
        case 4:
            return np.zeros((0,) * max(1, like.ndim), like.dtype)
        case 5 if like.dtype.kind in "iuf" and like.size:
            out = like.astype(np.int64 if like.dtype.kind != "f" else np.float64)
            odd = (-1, -2, 2**31, 2**62, 4 * 10**8, 7) if out.dtype.kind == "i" else (
                np.nan, np.inf, -1.0, 1e308, 5e-324, 1e30
            )  # fmt: skip
            out.ravel()[int(rng.integers(0, out.size))] = odd[int(rng.integers(0, len(odd)))]
            return out
        case 6:
            return np.array(int(rng.integers(0, 2**40)))
        case _:
            return rng.permutation(like.ravel()).reshape(like.shape)

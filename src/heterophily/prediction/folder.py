"""The model folder: ``card.json`` and ``weights.safetensors``; nothing in it is executed."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from torch import Tensor

from heterophily.data.atomic import write_bytes, write_text
from heterophily.data.folders import held, replace_folder, sweep, sync_folder
from heterophily.errors import HeterophilyError, InputError
from heterophily.layers.feature_scaling import ColumnScale
from heterophily.prediction.model import GraphFacts, Network, TrainedModel, Vote
from heterophily.runs.record import command_line, versions
from heterophily.runs.run import canonical, digest

SCHEMA = 1
CARD, WEIGHTS = "card.json", "weights.safetensors"
_KIND = "heterophily model"


def save_model(folder: str | Path, model: TrainedModel, *, overwrite: bool = False) -> Path:
    """Write a model folder. If it is interrupted, no incomplete folder is left.

    An existing folder is refused; with ``overwrite`` it is replaced, if it is a model folder.
    """
    from safetensors.torch import save

    target = Path(folder)
    check_target(target, overwrite=overwrite)
    tensors = {
        f"{number}/{name}": value.detach().cpu().contiguous()
        for number, vote in enumerate(model.votes)
        for name, value in vote.state.items()
    }
    content = save(tensors)
    card = {
        **model.card,
        "kind": _KIND,
        "schema": SCHEMA,
        "networks": [_network(network) for network in model.networks],
        "members": [
            {"network": vote.network, "split": vote.split, "seed": vote.seed}
            for vote in model.votes
        ],
        "classes": list(model.class_names),
        "trained_on": asdict(model.trained_on),
        "temperature": model.temperature,
        "versions": versions(),
        "command": command_line(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "weights": {"file": WEIGHTS, "sha256": hashlib.sha256(content).hexdigest()},
    }
    card = json.loads(json.dumps(card))  # tuples become lists, as a reader will find them
    card["checksum"] = digest(canonical(card))
    with _new_folder(target) as temporary:
        write_bytes(temporary / WEIGHTS, content)
        write_text(temporary / CARD, json.dumps(card, indent=1, ensure_ascii=False) + "\n")
    return target


def _network(network: Network) -> dict[str, Any]:
    return {
        "model": network.model,
        "options": dict(network.options),
        "config": dict(network.config),
        "resolved": network.resolved,
    }


def check_target(folder: str | Path, *, overwrite: bool = False) -> None:
    """Refuse a folder that cannot be written, before hours of training."""
    target = Path(folder)
    if not target.parent.is_dir():
        raise InputError(f"cannot write {target}: there is no folder {target.parent}")
    if overwrite:
        sweep(target)  # what a killed process left
    if not (target.exists() or target.is_symlink()):
        return
    if not overwrite:
        raise InputError(f"{target} exists; pass --overwrite to replace it, or another --out")
    if not (target.is_dir() and (target / CARD).is_file()) or target.is_symlink():
        raise InputError(
            f"{target} is not a model folder, so it is not overwritten; choose another"
        )


@contextlib.contextmanager
def _new_folder(target: Path) -> Iterator[Path]:
    """Give an empty folder beside ``target`` that takes its name at the end."""
    sweep(target)
    temporary = target.parent / f".{secrets.token_hex(6)}-{target.name}"
    try:
        temporary.mkdir()
        with held(temporary):
            yield temporary
            sync_folder(temporary)
            replace_folder(temporary, target)
            sync_folder(target.parent)
    except OSError as error:
        if isinstance(error, HeterophilyError):
            raise
        raise InputError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def load_model(folder: str | Path) -> TrainedModel:
    """Read a model folder; a damaged one is refused with one sentence."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    if not isinstance(folder, str | os.PathLike):
        raise InputError(f"{type(folder).__name__} is no name of a model folder")
    path = Path(folder)
    card = _read_card(path)
    content = _read(path / WEIGHTS)
    try:
        if hashlib.sha256(content).hexdigest() != card["weights"]["sha256"]:
            raise InputError(
                f"{path / WEIGHTS} is not the file that was saved (cut short or changed); copy "
                "the folder again, or train again"
            )
        return _model(path, card, load(content))
    except SafetensorError as error:
        raise InputError(f"{path / WEIGHTS} cannot be read: {error}") from error
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, HeterophilyError):
            raise
        raise InputError(
            f"{path / CARD} lacks what a model needs ({error}); train again"
        ) from error


def _model(path: Path, card: dict[str, Any], tensors: Mapping[str, Tensor]) -> TrainedModel:
    facts = dict(card["trained_on"])
    if facts["feature_names"] is not None:
        facts["feature_names"] = tuple(facts["feature_names"])
    try:
        _check_card(card, tensors)
    except InputError as error:
        raise InputError(f"{path} holds what no training writes ({error}); train again") from error
    return TrainedModel(
        networks=tuple(_read_network(path, entry) for entry in card["networks"]),
        votes=tuple(_votes(card["members"], tensors)),
        class_names=tuple(card["classes"]),
        trained_on=GraphFacts(**facts),
        temperature=card["temperature"],
        card=card,
    )


def _check_card(card: dict[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Refuse values that no training writes."""
    names, temperature = card["classes"], card["temperature"]
    is_text = bool(names) and all(isinstance(name, str) for name in names)
    if not is_text or len(set(names)) != len(names):
        raise InputError("class names are texts, each once")
    if type(temperature) not in (int, float) or not 0 < temperature < math.inf:
        raise InputError(f"temperature {temperature!r}")
    facts = card["trained_on"]
    if facts.get("columns") is not None:
        width = ColumnScale.from_dict(facts["columns"]).center.size
        if width != facts["num_features"]:
            raise InputError(f"{width} scaled columns of {facts['num_features']} features")
    counts = [facts[name] for name in ("num_nodes", "num_edges", "num_features")]
    if not all(type(count) is int and 0 <= count < 2**31 for count in counts):
        raise InputError("the sizes of the graph it was trained on")
    if type(facts["is_directed"]) is not bool:
        raise InputError("the direction of the graph it was trained on")
    if not all(isinstance(facts[name], str) for name in ("name", "content_hash", "node_ids")):
        raise InputError("the name of the graph it was trained on")
    if not card["members"]:
        raise InputError("no member")
    for member in card["members"]:
        if type(member["network"]) is not int or not 0 <= member["network"] < len(card["networks"]):
            raise InputError(f"member of network {member['network']!r}")
    for name, value in tensors.items():
        if value.is_floating_point() and not value.isfinite().all():
            raise InputError(f"{name} holds a number that is not finite")


def _read(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"cannot read {path}: it is not a regular file")
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; a model folder has {CARD} and {WEIGHTS}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _read_card(path: Path) -> dict[str, Any]:
    if not path.is_dir():
        raise InputError(
            f"{path}: no such model folder; heterophily train ... --out {path} writes one"
        )
    file = path / CARD
    try:
        card = json.loads(_read(file).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file} is not JSON ({error}); train again") from error
    if not isinstance(card, dict) or card.get("kind") != _KIND:
        raise InputError(f"{file} is not the card of a model; name a folder that train --out wrote")
    if card.get("schema") != SCHEMA:
        known = card.get("versions")
        writer = known.get("heterophily") if isinstance(known, dict) else None
        raise InputError(
            f"{file} has schema {card.get('schema')!r}, this version reads {SCHEMA}; use the "
            f"version of heterophily that wrote it ({writer})"
        )
    checksum = card.pop("checksum", None)
    try:
        now = digest(canonical(card))
    except ValueError:  # no number, or half a character
        now = None
    if checksum is None or checksum != now:
        raise InputError(f"{file} was changed after it was saved; train again, or restore the file")
    return card


def _read_network(path: Path, entry: Mapping[str, Any]) -> Network:
    options = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in entry["options"].items()
    }
    then = entry["resolved"]
    # A card that does not name the kind of features is of a time when all were taken for counts.
    network = Network(entry["model"], {"features": "counts", **options}, entry["config"])
    now = network.resolved
    changed = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
    if changed:
        raise InputError(
            f"{path}: {network.model} has other defaults in this version ({', '.join(changed)}); "
            "use the version of heterophily that wrote the folder, or train again"
        )
    return network


def _votes(members: list[dict[str, int]], tensors: Mapping[str, Tensor]) -> Iterator[Vote]:
    states: dict[int, dict[str, Tensor]] = {number: {} for number in range(len(members))}
    for key, value in tensors.items():
        number, _, name = key.partition("/")
        states[int(number)][name] = value
    for place, member in enumerate(members):
        yield Vote(member["network"], states[place], member["split"], member["seed"])

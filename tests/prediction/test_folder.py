import hashlib
import json
import os
import signal

import numpy as np
import pytest
from fresh import fresh

from heterophily.errors import InputError
from heterophily.prediction import folder as module
from heterophily.prediction.build import model_of
from heterophily.prediction.folder import CARD, WEIGHTS, load_model, save_model
from heterophily.prediction.predict import predict
from heterophily.runs.run import canonical, digest


@pytest.fixture
def saved(trained, tmp_path):
    return save_model(tmp_path / "model", trained())


def edit(folder, **changes):
    """Change the card as somebody who also knows about the checksum."""
    card = json.loads((folder / CARD).read_text())
    card |= changes
    card.pop("checksum")
    card["checksum"] = digest(canonical(card))
    (folder / CARD).write_text(json.dumps(card))


@pytest.mark.parametrize("name", ["acm-gcn", "acmii-gcn+", "mlp-2", "gat", "sgc-2", "gcnii"])
def test_saved_is_loaded_bit_for_bit(trained, graph, tmp_path, name):
    options = {} if name != "sgc-2" else {"hidden": 64}
    model = trained(name, **options)
    again = load_model(save_model(tmp_path / "m", model))
    before, after = predict(model, graph), predict(again, graph)
    assert np.array_equal(before.probabilities, after.probabilities)
    assert after.class_names == ("red", "green", "blue")
    if before.channel_weights is not None:
        assert np.array_equal(before.channel_weights, after.channel_weights)


def test_an_ensemble_of_different_networks_comes_back(chosen, graph, tmp_path):
    model = model_of(chosen, rule="folds", seed=0, extra={"read": {"label": "y"}})
    again = load_model(save_model(tmp_path / "m", model))
    assert np.array_equal(predict(model, graph).probabilities, predict(again, graph).probabilities)
    assert again.card["choice"]["verdict"]["kind"] == chosen.verdict.kind
    assert again.card["read"] == {"label": "y"}


def test_the_card_tells_the_story(saved, graph):
    card = json.loads((saved / CARD).read_text())
    assert card["schema"] == 1
    assert card["trained_on"]["content_hash"] == graph.content_hash
    assert card["classes"] == ["red", "green", "blue"]
    assert card["networks"][0]["model"] == "acm-gcn"
    assert card["networks"][0]["resolved"]["hidden"] == 8
    assert card["networks"][0]["config"]["max_epochs"] == 8
    assert card["splits"]["rule"] == "random"
    assert 0 <= card["metrics"]["accuracy"]["mean"] <= 1
    assert {"python", "torch", "heterophily"} <= set(card["versions"])
    assert card["temperature"] > 0


def test_the_folder_holds_two_files_and_no_pickle(saved):
    assert sorted(path.name for path in saved.iterdir()) == [CARD, WEIGHTS]
    content = (saved / WEIGHTS).read_bytes()
    assert int.from_bytes(content[:8], "little") < len(content)  # a safetensors header
    assert content[8:9] == b"{"


def test_an_existing_folder_is_refused_and_replaced_on_request(saved, trained, tmp_path):
    before = (saved / WEIGHTS).read_bytes()
    with pytest.raises(InputError, match="model exists; pass --overwrite"):
        save_model(saved, trained("mlp-2"))
    assert (saved / WEIGHTS).read_bytes() == before
    save_model(saved, trained("mlp-2"), overwrite=True)
    assert load_model(saved).name == "mlp-2"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_another_folder_is_never_overwritten(trained, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("years")
    with pytest.raises(InputError, match="is not a model folder, so it is not overwritten"):
        save_model(tmp_path / "thesis", trained(), overwrite=True)
    assert (tmp_path / "thesis" / "chapter.txt").read_text() == "years"


def test_a_failure_while_writing_leaves_the_old_folder_and_nothing_else(
    saved, trained, tmp_path, monkeypatch
):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_text", full)
    with pytest.raises(InputError, match=r"cannot write .*model: No space left on device"):
        save_model(saved, trained("mlp-2"), overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert load_model(saved).name == "acm-gcn"


def test_there_must_be_a_place_for_the_folder(trained, tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        save_model(tmp_path / "no" / "model", trained())


def cut(folder):
    file = folder / WEIGHTS
    file.write_bytes(file.read_bytes()[:-10])


def flip(folder):
    file = folder / WEIGHTS
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.write_bytes(bytes(content))


def reword(folder):
    file = folder / CARD
    file.write_text(file.read_text().replace('"green"', '"grey"'))


def not_regular(name, target=None):
    def spoil(folder):
        (folder / name).unlink()
        os.mkfifo(folder / name) if target is None else (folder / name).symlink_to(target)

    return spoil


DAMAGES = {
    "a pipe": (not_regular(CARD), "card.json: it is not a regular file"),
    "a device": (not_regular(WEIGHTS, "/dev/zero"), "safetensors: it is not a regular file"),
    "cut": (cut, "is not the file that was saved"),
    "flipped": (flip, "is not the file that was saved"),
    "no weights": (lambda f: (f / WEIGHTS).unlink(), "weights.safetensors: no such file"),
    "no card": (lambda f: (f / CARD).unlink(), "card.json: no such file"),
    "edited card": (reword, "was changed after it was saved"),
    "no JSON": (lambda f: (f / CARD).write_text("{"), "is not JSON"),
    "other JSON": (lambda f: (f / CARD).write_text("[1]"), "is not the card of a model"),
    "not text": (lambda f: (f / CARD).write_bytes(b"\xff\xfe\x00"), "is not JSON"),
    "lacking": (lambda f: edit(f, members=[{}]), "lacks what a model needs"),
    "other schema": (lambda f: edit(f, schema=2), "has schema 2, this version reads 1"),
    "other defaults": (
        lambda f: edit(
            f,
            networks=[
                {
                    "model": "acm-gcn",
                    "options": {"hidden": 8},
                    "config": {},
                    "resolved": {"hidden": 9},
                }
            ],
        ),
        "has other defaults in this version",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_folder_is_one_sentence(saved, damage):
    spoil, message = DAMAGES[damage]
    spoil(saved)
    with pytest.raises(InputError, match=message) as caught:
        load_model(saved)
    assert "\n" not in str(caught.value)


def test_a_missing_folder_names_the_command_that_writes_one(tmp_path):
    with pytest.raises(InputError, match="heterophily train"):
        load_model(tmp_path / "nothing")


def forge(folder, rename=None, value=None):
    """Change the tensors as somebody who also knows about the checksums."""
    from safetensors.torch import load_file, save

    tensors = load_file(folder / WEIGHTS)
    first = next(iter(tensors))
    changed = tensors.pop(first)
    tensors[first if rename is None else rename] = changed if value is None else changed * value
    content = save(tensors)
    (folder / WEIGHTS).write_bytes(content)
    edit(folder, weights={"file": WEIGHTS, "sha256": hashlib.sha256(content).hexdigest()})


@pytest.mark.parametrize(
    ("rename", "value"),
    [("x/weight", None), ("99/weight", None), ("0/of another", None), ("", None),
     (None, float("nan")), (None, float("inf"))],
)  # fmt: skip
def test_forged_tensors_are_one_sentence(saved, graph, rename, value):
    forge(saved, rename, value)
    with pytest.raises(InputError):
        predict(load_model(saved), graph)


@pytest.mark.parametrize(
    "changes",
    [
        {"classes": ["a", "a", "b"]},
        {"classes": [1, 2, 3]},
        {"classes": []},
        {"classes": None},
        {"temperature": 0},
        {"temperature": -1.0},
        {"temperature": "1"},
        {"temperature": None},
        {"members": []},
        {"members": None},
        {"members": [{"network": 7, "split": 0, "seed": 0}]},
        {"members": [{"network": "0", "split": 0, "seed": 0}]},
        {"networks": [{"model": None}]},
        {"networks": {}},
        {"trained_on": []},
        {"trained_on": {}},
        {"weights": None},
        {"versions": None, "schema": 5},
    ],
)
def test_a_forged_card_is_one_sentence(saved, changes):
    edit(saved, **changes)
    with pytest.raises(InputError):
        load_model(saved)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": NaN}', '{"kind": "\\ud800"}', "9" * 5000])
def test_a_card_of_odd_json_is_one_sentence(saved, text):
    (saved / CARD).write_text(text)
    with pytest.raises(InputError):
        load_model(saved)


KILLED = """
import os, signal, sys
from heterophily.data import folders
from heterophily.prediction.folder import load_model, save_model
model = load_model(sys.argv[1])
count = 0
def dying(*given):
    global count
    count += 1
    if count == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*given)
real, os.replace = os.replace, dying
exchange = folders._exchange
folders._exchange = lambda *given: dying_exchange(*given)
def dying_exchange(*given):
    if sys.argv[3] == "after":
        done = exchange(*given)
        os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[3] == "none":
        return False
    return exchange(*given)
save_model(sys.argv[1], model, overwrite=True)
"""


@pytest.mark.parametrize(
    ("call", "how"), [(1, "exchange"), (99, "after"), (3, "none"), (4, "none")]
)
def test_a_kill_while_overwriting_never_loses_the_model(saved, logs, call, how):
    """Calls 1 and 2 name the files; with no exchange, 3 and 4 rename the two folders."""
    before = load_model(saved).card["created"]
    done = fresh(KILLED, words=(saved, call, how), folder=saved.parent, logs=logs)
    assert done.returncode == -signal.SIGKILL
    if how != "none" or call == 3:
        assert load_model(saved).card["created"] >= before
    left = [path.name for path in saved.parent.iterdir() if path.name.startswith(".")]
    assert left
    module.check_target(saved, overwrite=True)  # the next start sweeps
    assert load_model(saved).card["created"] >= before
    assert sorted(path.name for path in saved.parent.iterdir()) == ["model"]


def test_a_folder_that_somebody_writes_is_not_swept(saved):
    from heterophily.data.folders import held, sweep

    mine, other = (saved.parent / f".{digit * 12}-model" for digit in "ab")
    strange = saved.parent / ".notes-model"
    for folder in (mine, other, strange):
        folder.mkdir()
    with held(mine):
        sweep(saved)
        assert mine.is_dir()
    assert not other.exists()
    sweep(saved)
    assert not mine.exists()
    assert strange.is_dir()

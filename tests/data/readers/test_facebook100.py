from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import savemat

from heterophily.data.npz import read_pieces
from heterophily.data.readers.facebook100 import read_facebook100
from heterophily.errors import InputError

A = sp.csc_matrix(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], float))
INFO = np.array([[1, 2, 5, 0, 7, 2008, 30], [2, 0, 5, 0, 8, 2008, 10], [1, 1, 0, 0, 7, 2006, 20]])


def test_gender_is_the_label_and_each_other_value_a_feature(tmp_path: Path) -> None:
    savemat(tmp_path / "Toy1.mat", {"A": A, "local_info": INFO.astype(float)})
    pieces = read_facebook100(tmp_path / "Toy1.mat")
    assert pieces.name == "fb100-Toy1"
    assert pieces.labels is not None
    assert pieces.labels.tolist() == [1, -1, 0]
    assert pieces.features is not None
    #  status 1, 2 | major 0, 5 | second major 0 | dorm 7, 8 | year 2006, 2008 | school 10, 20, 30
    assert pieces.features.toarray().astype(int).tolist() == [
        [1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 1],
        [0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0],
        [1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0],
    ]
    graph = pieces.graph()
    assert (graph.num_edges, graph.report.done) == (2, ())


def test_a_real_school_has_six_features_per_person(data_folder: Path) -> None:
    real = read_pieces(data_folder / "fb100-Amherst41.npz")
    assert set(np.diff(sp.csr_array(real.features).indptr)) == {6}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"A": None}, "no variable 'A'"),
        ({"A": sp.csc_matrix(np.eye(2))}, r"'A' has shape \(2, 2\)"),
        ({"A": np.eye(3)}, "expected a sparse"),
        ({"local_info": INFO + 0.5}, "not a whole number"),
        ({"local_info": np.full((3, 7), np.nan)}, "not a whole number"),
        ({"local_info": INFO + 2}, "gender column"),
        ({"local_info": INFO[:, :1]}, "7 columns"),
        ({"local_info": np.array(["a", "b", "c"])}, "'local_info'"),
    ],
)
def test_a_wrong_variable_is_named(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    contents = {"A": A, "local_info": INFO, **changes}
    path = tmp_path / "Toy1.mat"
    savemat(path, {key: value for key, value in contents.items() if value is not None})
    with pytest.raises(InputError, match=words) as caught:
        read_facebook100(path)
    assert str(path) in str(caught.value)


def test_damaged_files_are_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "Toy1.mat"
    with pytest.raises(InputError, match=r"cannot read .*Toy1.mat: No such file"):
        read_facebook100(path)
    savemat(path, {"A": A, "local_info": INFO})
    data = path.read_bytes()
    for content in (b"", b"hello", data[:200], data[: len(data) // 2]):
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            read_facebook100(path)
        assert "\n" not in str(caught.value)

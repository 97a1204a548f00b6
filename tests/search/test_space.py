"""Search spaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from heterophily.errors import InputError, UnknownNameError
from heterophily.paper.presets import RELEASED, recipe
from heterophily.paper.tuned import optimal
from heterophily.search.space import (
    Space,
    best_by_validation,
    recipe_of,
    space_for,
)


def test_the_papers_grid_of_acm_gcn_has_270_settings_all_distinct() -> None:
    space = space_for("paper", "acm-gcn", "cornell")
    assert len(space) == 270
    assert len({tuple(setting.items()) for setting in space}) == 270


def test_the_structure_channel_is_searched_where_the_paper_has_optima_of_both_kinds() -> None:
    assert space_for("paper", "acm-gcn+", "cornell").values["with_structure"] == (False, True)
    assert "with_structure" not in space_for("paper", "acm-gcn", "cornell").values


def test_acm_gcnii_is_searched_over_the_settings_of_its_backbone() -> None:
    values = space_for("paper", "acm-gcnii*", "cornell").values
    assert {"lambda", "alpha_l", "layers"} <= set(values)


def test_the_default_space_fits_every_model() -> None:
    assert len(space_for("default", "acm-gcn", "anything")) == 27
    assert len(space_for("default", "mlp-1", "anything")) == 27


def test_a_space_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "space.toml"
    path.write_text("lr = [0.1, 0.01]\nlayers = [2, 3]\n")
    assert list(space_for(path, "acm-gcn", "mine"))[1] == {"lr": 0.1, "layers": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lrr = [0.1]", "unknown hyper-parameter in space.toml 'lrr'; did you mean 'lr'"),
        ("lr = 0.1", "lr = 0.1; write a list"),
        ("lr = []", "lr needs one or more distinct values"),
        ("lr = [0.1, 0.1]", "lr needs one or more distinct values"),
        ("lr = [-1.0]", "space.toml: lr=-1.0; the learning rate is a positive number"),
        ("dropout = [2.0]", "space.toml: dropout=2.0"),
        ('hidden = ["many"]', "space.toml: hidden='many'"),
        ("", "it names no hyper-parameter"),
        ("lr = [", "is not TOML"),
    ],
)
def test_a_bad_space_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "space.toml"
    path.write_text(text)
    with pytest.raises((InputError, UnknownNameError), match=message):
        space_for(path, "acm-gcn", "mine")


def test_an_unknown_space_or_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'paper'"):
        space_for("papr", "acm-gcn", "texas")
    with pytest.raises(InputError, match="no such file"):
        space_for(tmp_path / "none.toml", "acm-gcn", "texas")


@pytest.mark.parametrize("model", ["acm-gcn", "acm-gcn+", "acmii-gcn++", "gcn"])
def test_the_recipe_of_the_published_optimum_is_that_of_the_preset(model: str) -> None:
    settings = optimal(model, "citeseer", "random")
    assert settings is not None
    ours = recipe_of(settings, model, "citeseer", RELEASED)
    assert ours == recipe("paper", model, "citeseer", "random")


def test_rules_see_the_structure_channel_that_a_model_has_by_default() -> None:
    assert recipe_of({}, "acm-gcn+", "texas", RELEASED).options["row_normalize"] is False
    without = recipe_of({"with_structure": False}, "acm-gcn+", "texas", RELEASED).options
    assert without["row_normalize"] is True
    assert without["mix_scale"] == 3.0


def test_the_best_setting_has_the_highest_mean_and_ties_go_to_the_first() -> None:
    assert best_by_validation([[0.1, 0.9], [0.6, 0.4], [0.2, 0.2]]) == 0
    assert best_by_validation([[None, 0.99], [0.1, 0.1]]) == 1


def test_a_space_in_which_everything_diverges_is_refused() -> None:
    with pytest.raises(InputError, match="every one diverged"):
        best_by_validation([[None], [None]])


def test_settings_iterate_in_a_fixed_order() -> None:
    space = Space("s", {"a": (1, 2), "b": (3, 4)})
    assert [tuple(s.values()) for s in space] == [(1, 3), (1, 4), (2, 3), (2, 4)]

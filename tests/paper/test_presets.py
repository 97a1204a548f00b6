import pytest

from heterophily.errors import HeterophilyError, InputError
from heterophily.models.catalog import MODELS
from heterophily.paper.presets import PRESETS, SettingRule, recipe
from heterophily.paper.published_tables import published_table


def test_three_channels_are_scaled_by_three_and_four_are_not():
    assert recipe("paper", "acm-gcn", "cornell", "random").options["mix_scale"] == 3.0
    assert recipe("paper", "acm-gcn++", "cornell", "random").options["mix_scale"] == 3.0
    assert "mix_scale" not in recipe("paper", "acm-gcn+", "cornell", "random").options


def test_plus_models_see_raw_features_only_with_the_structure_channel():
    with_a = recipe("paper", "acm-gcn+", "cornell", "random").options
    without = recipe("paper", "acm-gcn+", "texas", "random").options
    assert (with_a["with_structure"], with_a["row_normalize"]) == (True, False)
    assert (without["with_structure"], without["row_normalize"]) == (False, True)


def test_hyperparameters_are_the_published_optimum():
    found = recipe("paper", "acmii-gcn", "cornell", "random")
    assert (found.config.lr, found.config.weight_decay) == (0.1, 0.01)
    assert (found.options["dropout"], found.options["hidden"]) == (0.5, 64)


def test_citeseer_fills_unlabelled_nodes_with_class_0():
    assert recipe("paper", "acm-gcn", "citeseer", "random").graph == {
        "self_loops": "keep",
        "fill_unlabelled": 0,
    }


def test_deezer_is_trained_with_adamw_and_selected_by_accuracy():
    config = recipe("paper", "acm-gcn", "deezer-europe", "fixed").config
    assert (config.optimizer, config.max_epochs, config.stopping) == ("adamw", 500, "none")
    assert config.select_by == "validation-accuracy"


def test_deezer_on_random_splits_is_refused():
    with pytest.raises(InputError, match="published on its five fixed splits; use --splits fixed"):
        recipe("paper", "acm-gcn", "deezer-europe", "random")


def test_extra_rules_win():
    rule = SettingRule(models="acm*", options={"mix_scale": 1.0})
    found = recipe("paper", "acm-gcn", "cornell", "random", extra=(rule,))
    assert found.options["mix_scale"] == 1.0


def test_as_written_keeps_the_papers_formulas():
    found = recipe("paper-as-written", "acm-gcn++", "cornell", "random")
    assert not {"mix_scale", "residual", "use_layer_norm"} & set(found.options)
    assert found.graph == {}


def test_cell_without_a_published_optimum_is_one_sentence():
    with pytest.raises(InputError, match=r"no hyper-parameters for acm-gcn on karate with random"):
        recipe("paper", "acm-gcn", "karate", "random")
    with pytest.raises(InputError, match="with public splits"):
        recipe("paper", "acm-gcn", "cora", "public")


def test_unknown_preset_is_refused_with_the_nearest():
    with pytest.raises(HeterophilyError, match="did you mean 'paper'"):
        recipe("papers", "acm-gcn", "cora", "random")


@pytest.mark.parametrize("preset", PRESETS)
def test_every_published_cell_of_our_models_gives_a_valid_model(preset):
    table, checked = published_table("sota"), 0
    for model, dataset in table.cells:
        if model not in MODELS:
            continue
        try:
            found = recipe(preset, model, dataset, "random")
        except InputError:
            continue
        spec = MODELS[model]
        spec.with_options(**{k: v for k, v in found.options.items() if spec.accepts(k)})
        checked += 1
    assert checked > 150

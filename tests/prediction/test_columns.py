import pytest

from heterophily.errors import InputError
from heterophily.prediction.columns import feature_columns, open_table


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "nodes.tsv"
    path.write_text("id\ty\tsplit\theight\tweight\nn1\ta\ttrain\t1\t2\n")
    return open_table(path)


def test_features_are_the_columns_without_another_role(table):
    assert feature_columns(table) == ("height", "weight")
    assert feature_columns(table, ignore=["weight"]) == ("height",)
    assert feature_columns(table, features=["weight"]) == ("weight",)


def test_a_column_that_is_not_there_is_refused(table):
    with pytest.raises(InputError, match="no column 'hight' for the features"):
        feature_columns(table, features=["hight"])

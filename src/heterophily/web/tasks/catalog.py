"""The table of tasks, and what is loaded before anybody asks for one."""

from __future__ import annotations

from heterophily.web.tasks.compare_models import compare_models
from heterophily.web.tasks.diagnose_graph import diagnose_graph
from heterophily.web.tasks.import_graph import import_graph
from heterophily.web.tasks.preview_tables import preview_tables
from heterophily.web.tasks.show_study import show_study
from heterophily.web.tasks.train_synthetic import train_synthetic
from heterophily.web.worker import Task

TASKS: dict[str, Task] = {
    "preview": preview_tables,
    "import": import_graph,
    "diagnosis": diagnose_graph,
    "comparison": compare_models,
    "playground": train_synthetic,
    "study": show_study,
}


def warm_up() -> None:
    """Load what training needs: it takes seconds."""

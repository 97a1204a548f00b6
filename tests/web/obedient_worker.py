"""A worker process whose one task does what the request says: for the tests of jobs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from heterophily.errors import InputError
from heterophily.web import worker
from heterophily.web.jobs import KINDS


def obey(request: Mapping[str, Any], context: worker.Context) -> dict[str, Any]:
    for number in range(request.get("steps", 1)):
        context.emit("step", number=number, pid=os.getpid(), place=os.getcwd())
        time.sleep(request.get("seconds", 0))
    if "allocate" in request:
        bytearray(request["allocate"])
    if "chdir" in request:
        os.chdir(request["folder"])
    if "exit" in request:
        os._exit(request["exit"])
    if "refuse" in request:
        raise InputError(request["refuse"])
    if "fault" in request:
        raise KeyError(request["fault"])
    return {
        "value": float("nan") if request.get("nan") else 1.5,
        "cwd_is_known": "folder" in request,
    }


if __name__ == "__main__":  # as a program only: the tests import every module
    catalog: Any = ModuleType("heterophily.web.tasks.catalog")
    catalog.task_of = dict.fromkeys(KINDS, obey).__getitem__
    catalog.warm_up = lambda: iter(())
    sys.modules[catalog.__name__] = catalog
    worker.main()

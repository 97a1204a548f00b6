"""Optuna as a proposer of settings, and nothing more: it neither stores nor schedules runs.

The sampler is seeded and is told results in a fixed order, so a repeated search proposes the same
settings again and finds their runs in the store: that is how it resumes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heterophily.errors import MissingExtraError
from heterophily.search.space import Settings, Space

_ATTEMPTS = 10  # proposals in a row that are old before a new setting is drawn


@dataclass(frozen=True, eq=False)
class Proposal:
    """A setting to try; its result is told once."""

    settings: Settings
    study: Any
    trial: Any

    def tell(self, mean: float | None, *, is_hopeless: bool = False) -> None:
        """Tell the mean validation accuracy (None: it diverged)."""
        from optuna.trial import TrialState

        if mean is None:
            self.study.tell(self.trial, state=TrialState.FAIL)
        elif is_hopeless:
            self.trial.report(mean, step=1)
            self.study.tell(self.trial, state=TrialState.PRUNED)
        else:
            self.study.tell(self.trial, mean)


class Proposer:
    """Proposes settings of a space.

    Parameters
    ----------
    dashboard
        A SQLite file for ``optuna-dashboard``; the study in it is a copy, made anew each time.
    """

    def __init__(
        self, space: Space, *, seed: int = 0, name: str = "", dashboard: Path | None = None
    ) -> None:
        try:
            import optuna
        except ImportError:
            raise MissingExtraError(
                "adaptive search needs Optuna: pip install 'heterophily[tune]', or use --search "
                "grid"
            ) from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.space, self._random = space, random.Random(seed)
        # Values of any kind become numbers of choices: Optuna never sees the values themselves.
        self._choices: dict[str, Any] = {
            key: optuna.distributions.CategoricalDistribution(range(len(values)))
            for key, values in space.values.items()
        }
        storage = None
        if dashboard is not None:
            storage = optuna.storages.RDBStorage(f"sqlite:///{dashboard.absolute()}")
            if name in optuna.study.get_all_study_names(storage):
                optuna.delete_study(study_name=name, storage=storage)
        self._study = optuna.create_study(
            study_name=name or None,
            storage=storage,
            direction="maximize",
            sampler=optuna.samplers.TPESampler(seed=seed),
        )

    def rounds(self, size: int) -> Iterator[list[Proposal]]:
        """Yield lists of ``size`` new settings, each to be told, until the space is exhausted."""
        seen: set[tuple[int, ...]] = set()
        while len(seen) < len(self.space):
            count = min(size, len(self.space) - len(seen))
            yield [self._propose(seen) for _ in range(count)]

    def _propose(self, seen: set[tuple[int, ...]]) -> Proposal:
        """Ask for a setting that was not proposed before; draw one if the sampler has none."""
        for _ in range(_ATTEMPTS):
            trial = self._study.ask(self._choices)
            chosen = tuple(trial.params[key] for key in self._choices)
            if chosen not in seen:
                break
            Proposal({}, self._study, trial).tell(None)
        else:
            chosen = self._draw(seen)
            self._study.enqueue_trial(dict(zip(self._choices, chosen, strict=True)))
            trial = self._study.ask(self._choices)
        seen.add(chosen)
        settings = {
            key: self.space.values[key][number]
            for key, number in zip(self._choices, chosen, strict=True)
        }
        for key, value in settings.items():
            trial.set_user_attr(key, value)
        return Proposal(settings, self._study, trial)

    def _draw(self, seen: set[tuple[int, ...]]) -> tuple[int, ...]:
        sizes = [len(values) for values in self.space.values.values()]
        while True:
            chosen = tuple(self._random.randrange(size) for size in sizes)
            if chosen not in seen:
                return chosen

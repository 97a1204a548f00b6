"""Several processes that train one model together, by torch's distributed data parallel."""

from __future__ import annotations

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from heterophily.errors import InputError
from heterophily.training.mini_batch import Team


class ProcessTeam(Team):
    """The processes of ``torch.distributed``, which the caller has initialised (gloo).

    Every process goes through the same batches and takes every n-th node of each; gradients are
    averaged by :class:`~torch.nn.parallel.DistributedDataParallel`. Without dropout the result is
    that of one process, up to the order of sums.
    """

    def __init__(self) -> None:
        if not dist.is_initialized():
            raise InputError(
                "no process group: call torch.distributed.init_process_group('gloo') before, as "
                "torchrun and Ray Train do"
            )
        self.rank, self.size = dist.get_rank(), dist.get_world_size()

    def share(self, forward: nn.Module) -> nn.Module:
        """Return the module with gradients that are averaged over the processes."""
        return DistributedDataParallel(forward)

    def total(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of values over the processes."""
        tensor = torch.from_numpy(values.copy())
        dist.all_reduce(tensor)
        return tensor.numpy()

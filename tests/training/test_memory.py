import numpy as np
import torch

from heterophily.training.memory import peak_memory_mb


def test_peak_memory_remembers_an_array_that_is_gone():
    before = peak_memory_mb(torch.device("cpu"))
    np.ones(int(before) * 2**17, np.float64).sum()  # as large as the peak so far
    assert peak_memory_mb(torch.device("cpu")) > before + 10

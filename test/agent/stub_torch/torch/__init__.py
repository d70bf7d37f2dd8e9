"""A stub with the shape of torch 1.13's import: the same modules in the same order, and no tensors.

Only for Pythons that have no torch. Written for the tests; nothing of it is torch's.
"""

import torch.version
from torch.version import __version__
import torch._C
from torch import cuda
from torch import optim
import torch.multiprocessing
import torch.random

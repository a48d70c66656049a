# SPDX-License-Identifier: MIT
"""As much of PyTorch as runtime/python/tkc.py uses, over NumPy's arrays."""
import contextlib
import types

import numpy

uint8 = numpy.uint8


class Device(str):
    type = property(lambda self: self.split(":")[0])


class Tensor:
    def __init__(self, array, dtype="float32", device="cuda:0"):
        self.array, self.dtype, self.device = array, "torch." + dtype, Device(device)
        self.shape = array.shape

    def data_ptr(self):
        return self.array.ctypes.data

    def stride(self):
        return tuple(step // self.array.itemsize for step in self.array.strides)


def empty(size, dtype, device):
    assert device == "cuda" and current
    return Tensor(numpy.empty(size, dtype), "uint8")


current = []


@contextlib.contextmanager
def device_of(device):
    current.append(device)
    yield
    current.pop()


def current_stream():
    assert current
    return types.SimpleNamespace(cuda_stream=0x123456789ABC)


cuda = types.SimpleNamespace(device=device_of, current_stream=current_stream)

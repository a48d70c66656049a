# SPDX-License-Identifier: MIT
"""Calls the library of scaled.c through runtime/python/tkc.py. Arguments: LIBRARY HEADER abi.h"""
import re
import sys

import numpy
from torch import Tensor

import tkc

library, header, abi = sys.argv[1:]
X = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
scaled = tkc.load(library, header).scaled
print(scaled)

# Strides count elements, scalars have their widths, the workspace is as large as asked for.
Y = numpy.zeros((4, 6), numpy.float32)
scaled(Tensor(X.T), Tensor(Y[:, ::2]), 0.5, 1 << 40, True)
assert (Y[:, ::2] == X.T * 2.0**39).all() and (Y[:, 1::2] == 0).all()
scaled(Tensor(X[:1]), Tensor(Y[:1, :4]), 0.5, 1, False)
assert (Y[:1, :4] == X[:1]).all()


def refused(*arguments):
    try:
        scaled(*arguments)
    except tkc.Error as error:
        print(f"{type(error).__name__}: {error}")


x, y = Tensor(X), Tensor(Y[:3, :4])
refused(x, Tensor(Y), 1.0, 1, True)
refused(Tensor(X.view(numpy.int32), "int32"), y, 1.0, 1, True)
refused(Tensor(X, "complex64"), y, 1.0, 1, True)
refused(x, y, 1.0, 1)
refused(x, 1.0, y, 1, True)
refused(x, y, y, 1, True)
for factor in (1e300, 10**400, "a", None, numpy.float64(-1e39)):
    refused(x, y, factor, 1, True)
for times in (-1, 2**64, 1.5, "1", numpy.float32(1)):
    refused(x, y, 1.0, times, True)
for is_on in (7, 1.0, None):
    refused(x, y, 1.0, 1, is_on)
refused(x, Tensor(Y[:3, :4], device="cpu"), 1.0, 1, True)
refused(x, Tensor(numpy.zeros((1,) * 9)), 1.0, 1, True)
try:
    tkc.load(library, abi)
except tkc.Error as error:
    print(re.sub(r"^.*/", "", str(error)))

# Scalars that the parameter can hold, Python's and NumPy's; infinities are numbers of a float.
i32 = (5, -(2**31), numpy.int64(2**31 - 1), True)
assert [tkc.scalar(value, "i32") for value in i32] == [int(value) for value in i32]
assert [tkc.scalar(value, "i32") for value in (2**32 + 5, 2**31, -(2**31) - 1)] == [None] * 3
assert [tkc.scalar(value, "u32") for value in (2**32 - 1, -1)] == [2**32 - 1, None]
assert [tkc.scalar(value, "f32") for value in (1, 2.5, float("inf"), numpy.float32(0.5))] == [1, 2.5, float("inf"), 0.5]
assert tkc.scalar(numpy.bool_(True), "bool") is True

# What the types are called here is what they are called there.
types = re.search(r"typedef enum tk_dtype \{(.*?)\}", open(abi).read(), re.S)[1]
assert {name.lower(): int(number) for name, number in re.findall(r"TK_(\w+) = (\d+)", types)} == tkc.DTYPES
assert set(tkc.OF_TORCH.values()) == set(tkc.DTYPES)

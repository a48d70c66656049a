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
refused(x, Tensor(Y[:3, :4], device="cpu"), 1.0, 1, True)
refused(x, Tensor(numpy.zeros((1,) * 9)), 1.0, 1, True)
try:
    tkc.load(library, abi)
except tkc.Error as error:
    print(re.sub(r"^.*/", "", str(error)))

# What the types are called here is what they are called there.
types = re.search(r"typedef enum tk_dtype \{(.*?)\}", open(abi).read(), re.S)[1]
assert {name.lower(): int(number) for name, number in re.findall(r"TK_(\w+) = (\d+)", types)} == tkc.DTYPES
assert set(tkc.OF_TORCH.values()) == set(tkc.DTYPES)

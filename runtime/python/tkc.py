# SPDX-License-Identifier: MIT
"""Calls kernels that tkc generated with PyTorch's tensors (the contract: lang-spec/abi.md).

    import tkc
    kernels = tkc.load("libkernels.so", "gemm.h")  # the library, and the headers that tkc wrote beside its sources
    kernels.gemm(A, B, C)                          # parameters in the order of the .tk file; outputs are written in place

A call enqueues the launch on PyTorch's current stream of the tensors' device and returns at once; it may be captured in a CUDA graph.
Workspace comes from PyTorch's allocator. A call with arguments that the kernel does not take raises `tkc.Error` and has done nothing.
"""
import ctypes
import math
import numbers
import os
import re

DTYPES = {"bf16": 0, "f16": 1, "f32": 2, "i32": 3, "u32": 4, "i64": 5, "u64": 6, "bool": 7, "e4m3": 8, "e5m2": 9, "i8": 10, "u8": 11}
SCALARS = {"f32": ctypes.c_float, "i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i64": ctypes.c_int64, "u64": ctypes.c_uint64, "bool": ctypes.c_bool}
OF_HEADER = {"const tk_tensor*": None, "float": "f32", "int32_t": "i32", "uint32_t": "u32", "int64_t": "i64", "uint64_t": "u64", "bool": "bool"}
OF_TORCH = {"bfloat16": "bf16", "float16": "f16", "float32": "f32", "int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64", "bool": "bool",
            "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "int8": "i8", "uint8": "u8"}
DECLARATION = re.compile(r"tk_status (\w+)\(([^)]*), void\* workspace, size_t workspace_bytes, tk_stream stream\);")
Axes = ctypes.c_int64 * 8


class Tensor(ctypes.Structure):
    """tk_tensor: a description, which owns nothing. Strides count elements."""
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32), ("extent", Axes), ("stride", Axes)]


class Status(ctypes.Structure):
    """tk_status: 0 and no message, or what was found and what was expected."""
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char_p)]


class Error(RuntimeError):
    """A call was refused, or a header is none of tkc's. `code`: the tk_code where the launcher refused it, whose message begins with the
    kernel's name; None where the call has not come so far."""

    def __init__(self, message, code=None):
        super().__init__(message)
        self.code = code


def tensor(address, dtype, extent, stride):
    """The description of elements of type `dtype`, as the .tk file spells it, from an address on."""
    if len(extent) > 8:
        raise Error(f"a tensor of {len(extent)} dimensions: a kernel's have 8 at most")
    return Tensor(address, DTYPES[dtype], len(extent), Axes(*extent), Axes(*stride))


def describe(t):
    """The description of a PyTorch tensor."""
    name = str(t.dtype).removeprefix("torch.")
    if name not in OF_TORCH:
        raise Error(f"a tensor of {t.dtype}: kernels take {', '.join(OF_TORCH)}")
    return tensor(t.data_ptr(), OF_TORCH[name], tuple(t.shape), t.stride())


def scalar(value, kind):
    """The number that a parameter of type `kind` takes, or None where it would become another one: ctypes cuts integers without a word."""
    if kind == "bool":
        return bool(value) if type(value).__name__ in ("bool", "bool_") else None  # NumPy's has either name
    if kind == "f32":
        if not isinstance(value, numbers.Real):
            return None
        try:
            number = float(value)
        except OverflowError:
            return None
        return None if math.isinf(ctypes.c_float(number).value) and not math.isinf(number) else number
    if not isinstance(value, numbers.Integral):
        return None
    return int(value) if SCALARS[kind](int(value)).value == int(value) else None


class Kernel:
    """One entry of a library. `parameters`: (name, None) for a tensor, (name, type) for a scalar, whose type is spelled as in the .tk file."""

    def __init__(self, library, name, parameters):
        self.name, self.parameters = name, list(parameters)
        types = [SCALARS[kind] if kind else ctypes.POINTER(Tensor) for _, kind in self.parameters]
        self.entry, self.query = getattr(library, name), getattr(library, name + "_workspace")
        self.entry.restype, self.query.restype = Status, ctypes.c_size_t
        self.entry.argtypes, self.query.argtypes = [*types, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p], types

    def __repr__(self):
        return f"<kernel {self.signature()}>"

    def signature(self):
        return f"{self.name}({', '.join(f'{name}: {kind}' if kind else name for name, kind in self.parameters)})"

    def workspace_bytes(self, described):
        """What a launch with these arguments needs on the current device. `described`: descriptions of the tensors, and the scalars."""
        return self.query(*described)

    def launch(self, described, workspace, workspace_bytes, stream):
        """Enqueues on the current device, with the addresses of a workspace (or None) and a stream."""
        status = self.entry(*described, workspace, workspace_bytes, stream)
        if status.code:
            raise Error(status.message.decode(errors="replace"), status.code)

    def __call__(self, *arguments):
        import torch

        if len(arguments) != len(self.parameters):
            raise Error(f"{self.signature()} takes {len(self.parameters)} arguments, got {len(arguments)}")
        for argument, (name, kind) in zip(arguments, self.parameters):
            if hasattr(argument, "data_ptr") == (kind is not None):
                raise Error(f"{self.signature()}: expected {kind or 'a tensor'} for {name}, got {type(argument).__name__}")
        devices = {argument.device for argument in arguments if hasattr(argument, "data_ptr")}
        if len(devices) != 1 or next(iter(devices)).type != "cuda":
            raise Error(f"{self.name}: expected all tensors on one GPU, but they are on {', '.join(sorted(map(str, devices)))}")
        described = [scalar(argument, kind) if kind else describe(argument) for argument, (_, kind) in zip(arguments, self.parameters)]
        for argument, number, (name, kind) in zip(arguments, described, self.parameters):
            if number is None:
                raise Error(f"{self.signature()}: expected {kind} for {name}, got {argument!r}")
        with torch.cuda.device(devices.pop()):
            size = self.workspace_bytes(described)
            # Free again when this returns: PyTorch gives the memory to later work of the same stream only.
            workspace = torch.empty(size, dtype=torch.uint8, device="cuda") if size else None
            self.launch(described, workspace.data_ptr() if size else None, size, torch.cuda.current_stream().cuda_stream)


class Kernels:
    """The entries of a library, as attributes."""


def parameters_of(declaration):
    """The parameters of an entry as its header declares them."""
    for parameter in declaration.split(", "):
        kind, name = parameter.rsplit(" ", 1)
        yield name, OF_HEADER[kind]


def load(library, *headers):
    """The kernels that the headers, written by tkc, declare, out of a shared library."""
    code, kernels = ctypes.CDLL(os.path.abspath(library)), Kernels()
    for header in headers:
        with open(header) as f:
            declarations = DECLARATION.findall(" ".join(f.read().split()))
        if not declarations:
            raise Error(f"{header} declares no kernel: expected a header that tkc wrote")
        for name, parameters in declarations:
            setattr(kernels, name, Kernel(code, name, parameters_of(parameters)))
    return kernels

# SPDX-License-Identifier: MIT
"""The generated C interface (runtime/include/tk/host/abi.h) for ctypes."""
import ctypes

DTYPES = {"bf16": 0, "f16": 1, "f32": 2, "i32": 3, "u32": 4, "i64": 5, "u64": 6, "bool": 7, "e4m3": 8, "e5m2": 9, "i8": 10, "u8": 11}
SCALARS = {"f32": ctypes.c_float, "i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i64": ctypes.c_int64, "u64": ctypes.c_uint64,
           "bool": ctypes.c_bool}


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("extent", ctypes.c_int64 * 8), ("stride", ctypes.c_int64 * 8)]


class Status(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char_p)]

    def text(self):
        return f"status {self.code}: {(self.message or b'').decode(errors='replace')}"


def tensor(pointer, dtype, extent, stride):
    t = Tensor()
    t.data, t.dtype, t.rank = pointer, DTYPES[dtype], len(extent)
    t.extent[: len(extent)] = list(extent)
    t.stride[: len(stride)] = list(stride)
    return t


def describe(t):
    """A torch tensor as the interface sees it."""
    name = {"bfloat16": "bf16", "float16": "f16", "float32": "f32", "int32": "i32", "int64": "i64", "bool": "bool", "float8_e4m3fn": "e4m3",
            "float8_e5m2": "e5m2"}[str(t.dtype).removeprefix("torch.")]
    return tensor(t.data_ptr(), name, t.shape, t.stride())


def load_entry(library, name):
    entry = getattr(library, name)
    entry.restype = Status
    return entry


def load_workspace(library, name):
    """The workspace query of an entry, or None for a library written by hand without one."""
    try:
        query = getattr(library, name + "_workspace")
    except AttributeError:
        return None
    query.restype = ctypes.c_size_t
    return query

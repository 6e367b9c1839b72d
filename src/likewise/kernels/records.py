"""Arrays of which kernels know addresses: a call takes 0.2 µs for each array that Python hands over, and an index has hundreds.

A record is int64[m]: the address of an array, then its shape, for one array after the other, and numbers between them. Who makes a record keeps the
arrays, which are C-contiguous.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise.compiled.jit import LazyModule, intrinsic, ir, types

arrays: Any = LazyModule("numba.np.arrayobj")


def record_of(*values: Any) -> np.ndarray:
    """The record of arrays, numbers, and tuples of them."""
    return np.array([*_flat(values)], np.int64)


def _flat(value: Any) -> Any:
    if isinstance(value, tuple):
        for each in value:
            yield from _flat(each)
    elif isinstance(value, np.ndarray):
        yield from (value.ctypes.data, *value.shape)
    else:
        yield value


def _array(dtype: str, dimensions: int) -> Any:
    """Make an intrinsic (record, at): the array whose address is record[at]."""

    def typed(typingctx, record, at):
        kind = types.Array(getattr(types, dtype), dimensions, "C")

        def codegen(context, builder, signature, args):
            given = context.make_array(signature.args[0])(context, builder, args[0])
            places = [builder.add(args[1], ir.Constant(args[1].type, place)) for place in range(1 + dimensions)]
            address, *shape = [builder.load(builder.gep(given.data, [place])) for place in places]
            made = context.make_array(kind)(context, builder)
            width = ir.Constant(address.type, kind.dtype.bitwidth // 8)
            strides = [width] if dimensions == 1 else [builder.mul(width, shape[1]), width]
            data = builder.inttoptr(address, made.data.type)
            arrays.populate_array(made, data=data, shape=shape, strides=strides, itemsize=width, meminfo=None)
            return made._getvalue()

        return kind(record, types.int64), codegen

    return intrinsic(typed)


bytes_at, halves_at, words_at, longs_at = _array("uint8", 1), _array("uint16", 1), _array("uint32", 1), _array("uint64", 1)
numbers_at, word_rows_at, long_rows_at = _array("int64", 1), _array("uint32", 2), _array("uint64", 2)

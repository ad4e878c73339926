# SPDX-FileCopyrightText: 2026 The Octavo Authors
# SPDX-License-Identifier: Apache-2.0
"""Operations outside this library's purpose. They exist so that programs which mix them with convolutions can be read
and built up; validate() refuses them by name."""

from typing import Any, Callable

from ._ops_base import OpsBase

# name -> number of results
_FOREIGN = {
    "adalayernorm": 3,
    "adalayernorm_backward": 4,
    "batchnorm": 5,
    "batchnorm_backward": 3,
    "batchnorm_inference": 1,
    "block_scale_dequantize": 1,
    "block_scale_quantize": 2,
    "concatenate": 1,
    "instancenorm": 3,
    "instancenorm_backward": 3,
    "layernorm": 3,
    "layernorm_backward": 3,
    "matmul": 1,
    "moe_grouped_matmul": 1,
    "moe_grouped_matmul_bwd": 1,
    "reshape": 1,
    "resample": 2,
    "rmsnorm": 2,
    "rmsnorm_backward": 3,
    "rng": 1,
    "rope": 1,
    "rope_backward": 1,
    "scaled_dot_product_flash_attention": 2,
    "scaled_dot_product_flash_attention_backward": 3,
    "sdpa": 2,
    "sdpa_backward": 3,
    "sdpa_fp8": 4,
    "sdpa_fp8_backward": 7,
    "sdpa_mxfp8": 3,
    "sdpa_mxfp8_backward": 6,
    "slice": 1,
    "transpose": 1,
}


def _declare(op: str, outputs: int) -> Callable[..., Any]:
    def method(self: OpsBase, *args: Any, **kwargs: Any) -> Any:
        return self._foreign(op, outputs, args, kwargs)

    method.__name__ = method.__qualname__ = op
    method.__doc__ = f"Declared so that mixed programs load; validate() refuses {op} with cudnnGraphNotSupportedError."
    return method


class ForeignOps(OpsBase):
    pass


for _op, _outputs in _FOREIGN.items():
    setattr(ForeignOps, _op, _declare(_op, _outputs))

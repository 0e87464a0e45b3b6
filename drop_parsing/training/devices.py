"""Which device, and in which precision."""

from typing import Literal, get_args

import torch

from drop_parsing.errors import InputError

Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "float32", "bfloat16"]


def chosen_device(name: str) -> torch.device:
    """``auto`` is CUDA where there is one. Raises InputError for a device that is not there."""
    if name not in get_args(Device):
        raise InputError(f"--device {name} is not one of: {', '.join(get_args(Device))}.")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("--device cuda: there is no CUDA device here; leave it out, or give cpu.")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def chosen_dtype(name: str, device: torch.device) -> torch.dtype:
    """What matrices are multiplied in. ``auto`` is bfloat16 where the hardware has it."""
    if name not in get_args(Precision):
        raise InputError(f"--precision {name} is not one of: {', '.join(get_args(Precision))}.")
    if name == "auto":
        name = "bfloat16" if _has_bfloat16(device) else "float32"
    return torch.bfloat16 if name == "bfloat16" else torch.float32


def _has_bfloat16(device: torch.device) -> bool:
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())

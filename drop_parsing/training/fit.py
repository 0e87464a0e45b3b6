"""What every training run shares: Lightning's trainer, and the file of metrics."""

import json
import logging
import warnings
from pathlib import Path
from typing import Any

import lightning
import torch

from extractors.store import StoreError


def fit(
    module: lightning.LightningModule,
    keeper: lightning.Callback,
    run: Path,
    device: torch.device,
    dtype: torch.dtype,
    gradient_norm: float,
    devices: int = 1,
) -> None:
    """Train until ``keeper`` stops the trainer; it alone evaluates and writes. ``devices`` is for CUDA."""
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        # Of loaders with few workers, of a loader without a length, of saved hyperparameters: none applies.
        warnings.simplefilter("ignore")
        trainer = lightning.Trainer(
            accelerator=device.type,
            devices=devices,
            strategy="ddp_find_unused_parameters_true" if devices > 1 else "auto",
            precision="bf16-mixed" if dtype == torch.bfloat16 else "32-true",
            max_epochs=-1,
            gradient_clip_val=gradient_norm or None,
            callbacks=[keeper],
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
            use_distributed_sampler=False,
            default_root_dir=run,
        )
        trainer.fit(module)
    if trainer.interrupted:
        raise KeyboardInterrupt


def log_metrics(path: Path, line: dict[str, Any]) -> None:
    """Add a line to the metrics. One that a stopped run had written and a resumed one writes again is
    replaced: the last of an epoch counts."""
    try:
        before = path.read_text("utf-8").splitlines() if path.exists() else []
        kept = [
            text for text in before if "epoch" not in line or json.loads(text).get("epoch") != line["epoch"]
        ]
        path.write_text("\n".join([*kept, json.dumps(line)]) + "\n", "utf-8")
    except (OSError, ValueError) as error:
        raise StoreError(f"Cannot write {path} ({error}): check the folder, or choose another.") from error

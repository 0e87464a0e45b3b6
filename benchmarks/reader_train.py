"""Train a reader for some minutes on whatever device is there: questions a second and dev F1 after that time.

    python benchmarks/reader_train.py train.json dev.json --config naqanet --minutes 8 --out runs/naqanet

With a CUDA device the paper-sized NAQANet trains on it in bfloat16; without one, on the CPU. Prints one JSON
object. ``--passages`` takes only so many of each file, to see that everything works.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import torch

from drop_parsing.data.reading import read_all
from drop_parsing.training.devices import chosen_device, chosen_dtype
from drop_parsing.training.preset import load_preset
from drop_parsing.training.run import Options, train_reader


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--config", default="naqanet")
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--batch-size", type=int, help="instead of the preset's")
    parser.add_argument("--passages", type=int)
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    preset = load_preset(arguments.config)
    training = replace(preset.training, minutes=arguments.minutes)
    if arguments.batch_size:
        training = replace(training, batch_size=arguments.batch_size)
    preset = replace(preset, training=training)
    device = chosen_device("auto")
    dtype = chosen_dtype(arguments.precision, device)
    train, dev = (read_all([path])[0][: arguments.passages] for path in (arguments.train, arguments.dev))
    options = Options(device, dtype, resume=True, say=lambda text: print(text, file=sys.stderr))
    result = train_reader(preset, train, dev, arguments.out, arguments.out / "cache", options)
    summary = {
        "config": arguments.config,
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu",
        "precision": str(dtype).removeprefix("torch."),
        "minutes": arguments.minutes,
        "epochs": result.epochs,
        "questions_per_second": round(result.questions_per_second, 2),
        "trained_on": str(result.trained_on),
        "dev_em": round(result.dev_em, 2),
        "dev_f1": round(result.dev_f1, 2),
    }
    print(json.dumps(summary))


if __name__ == "__main__":
    main()

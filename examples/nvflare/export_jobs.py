"""Exports the jobs that the configs run: FedAvg on one array of 24 MiB, without and with NVFlare's own cleanups.

NVFlare copies client.py from the current directory: run this in the directory of this file, as setup.sh does.
"""

import sys
from pathlib import Path

import numpy as np
from nvflare.fuel.utils.constants import FrameworkType
from nvflare.recipe.fedavg import FedAvgRecipe

VALUES = 6 * 1024 * 1024  # 24 MiB of float32
ROUNDS = 6
CLIENTS = 2

# The name of each job, its server_memory_gc_rounds and its client_memory_gc_rounds.
JOBS = {"default": (0, 0), "gc-server": (1, 0), "gc-clients": (0, 1), "gc-server-and-clients": (1, 1)}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    model = folder.resolve() / "initial.npy"
    np.save(model, np.random.default_rng(1).standard_normal(VALUES, dtype=np.float32))
    for name, (server_gc_rounds, client_gc_rounds) in JOBS.items():
        # NumpyFedAvgRecipe does not take server_memory_gc_rounds.
        recipe = FedAvgRecipe(
            name=name,
            framework=FrameworkType.NUMPY,
            initial_ckpt=str(model),
            min_clients=CLIENTS,
            num_rounds=ROUNDS,
            train_script="client.py",
            server_memory_gc_rounds=server_gc_rounds,
            client_memory_gc_rounds=client_gc_rounds,
        )
        recipe.export(str(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Flower, NVIDIA FLARE and APPFL: configs of examples/, whose environments examples/NAME/setup.sh makes."""

import dataclasses
import pathlib
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES, INSTALLED = ROOT / "examples", ROOT / "build/examples"


@dataclasses.dataclass
class Framework:
    config: pathlib.Path
    variants: str
    program: pathlib.Path  # what setup.sh installs
    roles: dict  # role to a pattern on the commands of its processes
    marked: tuple  # roles of one process whose rounds are marked
    model: typing.Callable | None = None  # makes the final model
    interval: float = 0.005  # of the own sampler, in seconds: each millisecond would take a core where there are twenty processes
    has_steady_heap: bool = False  # whether its processes have the same peak of malloc's blocks in each trial, which cyclic garbage would move


def flower_model():
    """Clients 1 and 2 add their numbers in each of 4 rounds to whole numbers of seed 1."""
    import numpy
    return numpy.random.default_rng(1).integers(-1000, 1000, 24 << 18).astype(numpy.float32) + 4 * 1.5


def nvflare_model():
    """Clients 1 and 2 add their numbers in each of 6 rounds."""
    import numpy
    return numpy.random.default_rng(1).standard_normal(24 << 18, dtype=numpy.float32) + 6 * 1.5


FRAMEWORKS = {
    # Without role superexec: each process that a SuperExec starts counts for it until memduel has looked at its command, which it does ten times a second.
    "flower": Framework(EXAMPLES / "flower/clear-replies.json", "fedavg,clearing", INSTALLED / "flower/bin/flwr", {
        "superlink": "flower-superlink ", "supernode-1": "flower-supernode .*partition-id=1", "supernode-2": "flower-supernode .*partition-id=2",
        "serverapp": "flwr-serverapp", "clientapp": "flwr-clientapp", "cli": "bin/flwr run "},
        ("serverapp",), flower_model),
    "nvflare": Framework(EXAMPLES / "nvflare/memory.json", "default,two-arenas", INSTALLED / "nvflare/env/bin/nvflare", {
        "server": "nvflare simulator ", "client-1": "simulator_worker .*--client site-1 ", "client-2": "simulator_worker .*--client site-2 "},
        ("client-1", "client-2"), nvflare_model),
    # Its clients do not train, so that the model stays as it is; which one that is only APPFL knows.
    "appfl": Framework(EXAMPLES / "appfl/optimize-memory.json", "off,on", INSTALLED / "appfl/bin/python", {
        "server": "server.py server.yaml", "client-1": "client.py .*client_id=client-1 ", "client-2": "client.py .*client_id=client-2 "},
        ("server", "client-1", "client-2"), interval=0.001, has_steady_heap=True),
}


def options_of(name):
    """One trial of each variant, and one under heaptrack where heaps can be compared."""
    profile = ["profile.trials=1", 'profile.profilers=["heaptrack"]'] if FRAMEWORKS[name].has_steady_heap else ["profile.trials=0"]
    return [str(FRAMEWORKS[name].config), "--variants", FRAMEWORKS[name].variants, "--repeats", "1", "--warmup", "0",
            *(word for setting in profile for word in ("--set", setting)), "--on-inconclusive", "pass"]

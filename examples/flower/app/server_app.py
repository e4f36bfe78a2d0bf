"""The ServerApp: federated averaging of one array."""

import logging
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from flwr.app import ArrayRecord, Context, Message, MetricRecord
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

app = ServerApp()


class ClearingFedAvg(FedAvg):
    """FedAvg that drops the replies of a round as soon as they are averaged."""

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        result = super().aggregate_train(server_round, replies)
        replies.clear()  # the list that Strategy.start holds, too
        return result


STRATEGIES = {"fedavg": FedAvg, "clearing": ClearingFedAvg}


@app.main()
def main(grid: Grid, context: Context) -> None:
    config = context.run_config
    # Flower sends the log of a ServerApp to the SuperLink in batches; a file has each line at once.
    logging.getLogger("flwr").addHandler(logging.FileHandler(config["log"]))

    # Whole numbers: their sum is the same in whichever order the replies arrive.
    values = np.random.default_rng(config["seed"]).integers(-1000, 1000, config["mebibytes"] << 18)
    arrays = ArrayRecord([values.astype(np.float32)])
    del values

    nodes = config["nodes"]
    # Without evaluation each round is one message to each client, which Flower starts a process for.
    strategy = STRATEGIES[config["strategy"]](fraction_evaluate=0.0, min_train_nodes=nodes, min_available_nodes=nodes)
    result = strategy.start(grid=grid, initial_arrays=arrays, num_rounds=config["rounds"])
    (array,) = result.arrays.values()
    Path(config["out"]).write_bytes(array.data)  # the array is in the format of numpy.save already

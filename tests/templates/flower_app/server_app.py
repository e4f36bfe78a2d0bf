"""The ServerApp: two rounds of federated averaging of an array of 4 MiB."""

import numpy as np
from flwr.app import ArrayRecord, Context
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    strategy = FedAvg(min_train_nodes=2, min_evaluate_nodes=2, min_available_nodes=2)
    strategy.start(grid=grid, initial_arrays=ArrayRecord([np.zeros(1 << 20, np.float32)]), num_rounds=2)

"""A Flower server of the deprecated kind: federated averaging of one small array."""

import argparse

import flwr
import numpy

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
arguments = parser.parse_args()

initial = flwr.common.ndarrays_to_parameters([numpy.zeros(1 << 20, numpy.float32)])
flwr.server.start_server(
    server_address=f"127.0.0.1:{arguments.port}",
    config=flwr.server.ServerConfig(num_rounds=3),
    strategy=flwr.server.strategy.FedAvg(initial_parameters=initial, min_available_clients=2, fraction_evaluate=0.0),
)

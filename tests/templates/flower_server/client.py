"""A Flower client of the deprecated kind, which adds its number to the array."""

import argparse

import flwr

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--number", type=int, required=True)
arguments = parser.parse_args()


class Adding(flwr.client.NumPyClient):
    def fit(self, parameters, config):
        return [array + arguments.number for array in parameters], 1, {}


flwr.client.start_client(server_address=f"127.0.0.1:{arguments.port}", client=Adding().to_client())

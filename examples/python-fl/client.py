"""A federated learning client: trains the state that the server sends on data of its own."""

import argparse
import socket
import sys

import torch

import model


def make_data(seed, number):
    """What this client alone has: a plane with noise."""
    random = torch.Generator().manual_seed(1000 * seed + number)
    inputs = torch.randn(512, model.FEATURES, generator=random)
    return inputs, inputs[:, :1] + 0.1 * torch.randn(512, 1, generator=random)


def train(network, inputs, targets, steps):
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    loss = torch.zeros(())
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(network(inputs), targets)
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--number", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=4)
    options = parser.parse_args()
    torch.set_num_threads(1)
    network = model.make_model(options.seed)
    inputs, targets = make_data(options.seed, options.number)
    with socket.create_connection(("127.0.0.1", options.port)) as connection:
        model.send(connection, options.number)
        number = 0
        while (state := model.receive(connection)) is not None:
            number += 1
            print("Round", number)
            network.load_state_dict(state)
            loss = train(network, inputs, targets, options.steps)
            model.send(connection, {"state": network.state_dict(), "loss": loss})


if __name__ == "__main__":
    sys.exit(main())

"""A federated learning server: averages what its clients send, round by round.

It prints what it does, a line each: that is all that memduel knows of its rounds.
"""

import argparse
import collections
import os
import signal
import socket
import sys

import torch

import model


WINDOW_VALUES = 1 << 18  # 1 MiB of float32


class Server:
    def __init__(self, options):
        self.options = options
        self.global_state = model.make_model(options.seed).state_dict()
        self.history = []
        self.window = collections.deque(maxlen=options.window)

    def accept_clients(self, listener):
        """Connections in the order of the clients' numbers, so that sums are always the same."""
        clients = {}
        while len(clients) < self.options.clients:
            connection, _ = listener.accept()
            clients[model.receive(connection)] = connection
        return [clients[number] for number in sorted(clients)]

    def run(self, clients):
        for number in range(1, self.options.rounds + 1):
            self.run_round(number, clients)
        torch.save(self.global_state, self.options.out)
        for connection in clients:
            model.send(connection, None)

    def run_round(self, number, clients):
        print("Round", number, "of", self.options.rounds)
        print("phase broadcast")
        for connection in clients:
            model.send(connection, self.global_state)
        print("phase collect")
        updates = [model.receive(connection) for connection in clients]
        if self.options.keep_updates:
            for update in updates:
                self.keep_update(number, update)
        if self.options.keep_kib:
            self.keep_part(number, updates[0])
        if self.options.window:
            self.window.append(updates[0]["state"]["0.weight"].flatten()[:WINDOW_VALUES].clone())
        print("phase aggregate")
        self.aggregate(updates)
        print("train_loss", sum(update["loss"] for update in updates) / len(updates))

    def keep_update(self, number, update):
        """The planted leak: a copy of every client's update, for an audit that nobody makes."""
        self.history.append((number, {name: t.clone() for name, t in update["state"].items()}))

    def keep_part(self, number, update):
        """The slow leak: the first KiB of a round's first update, to compare rounds with, which nobody does."""
        values = self.options.keep_kib * 1024 // 4
        self.history.append((number, update["state"]["0.weight"].flatten()[:values].clone()))

    def aggregate(self, updates):
        for name, value in self.global_state.items():
            value.copy_(sum(update["state"][name] for update in updates) / len(updates))


def leave_the_parent():
    """What a daemon does: fork, a session of its own, fork again."""
    if os.fork() != 0:
        os._exit(0)
    os.setsid()
    if os.fork() != 0:
        os._exit(0)


def main(kind=Server):
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True, help="where the last global model goes")
    parser.add_argument("--keep-updates", action="store_true")
    parser.add_argument("--keep-kib", type=int, default=0, help="of each round's first update, at most 2048")
    parser.add_argument("--window", type=int, default=0, help="keep 1 MiB of each of the last so many rounds, and no more")
    parser.add_argument("--daemonise", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.daemonise:
        leave_the_parent()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    server = kind(options)
    with socket.create_server(("127.0.0.1", options.port)) as listener:
        server.run(server.accept_clients(listener))
        # Waits for another job, as servers do.
        listener.accept()


if __name__ == "__main__":
    sys.exit(main())

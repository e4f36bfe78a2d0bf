"""server.py with its rounds marked from inside, so that a profile knows in which round each block was born."""

import sys

import memduel_annotate as memduel

import server


class AnnotatedServer(server.Server):
    def run_round(self, number, clients):
        memduel.round_begin(number)
        super().run_round(number, clients)
        memduel.round_end(number)


if __name__ == "__main__":
    sys.exit(server.main(AnnotatedServer))

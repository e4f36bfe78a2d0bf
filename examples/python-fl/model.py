"""The network that everybody trains, and how a state travels over a socket."""

import io
import struct

import torch

FEATURES = 256
HIDDEN = 2048


def make_model(seed):
    """A network of 2.1 MiB; the same for the same seed."""
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Linear(FEATURES, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 1)
    )


def send(connection, message):
    """One message: its length in eight bytes, then what torch.save makes of it."""
    buffer = io.BytesIO()
    torch.save(message, buffer)
    content = buffer.getbuffer()
    connection.sendall(struct.pack("!Q", len(content)))
    connection.sendall(content)


def receive(connection):
    (length,) = struct.unpack("!Q", read_exactly(connection, 8))
    return torch.load(io.BytesIO(read_exactly(connection, length)))


def read_exactly(connection, length):
    content = bytearray(length)
    view = memoryview(content)
    while view:
        count = connection.recv_into(view)
        if count == 0:
            raise EOFError("the other side closed the connection")
        view = view[count:]
    return content

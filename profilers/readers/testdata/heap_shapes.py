# What memray records for the readers' tests: a leak, a peak, recursion, temporary blocks and blocks of native code, in
# functions that are told apart, with sizes that can be added up by hand: a bytes object has 33 bytes around its own.
import zlib

kept = []


# 10 blocks of 1000 bytes, never freed.
def leak():
    for _ in range(10):
        kept.append(bytes(1000))


# 16 blocks of 64 KiB and the zero behind each at once, all freed.
def hold_all():
    return [bytearray(65536) for _ in range(16)]


# A block of 20,000 bytes in each of six calls, one inside the other.
def descend(depth):
    block = bytes(20000)
    return [block] if depth == 1 else [block] + descend(depth - 1)


# 500 blocks of 4096 bytes, one after the other.
def come_and_go():
    for _ in range(500):
        bytes(4096)


# What zlib itself allocates.
def deflate():
    return zlib.compressobj(9)


def main():
    leak()
    come_and_go()
    blocks = hold_all()
    chain = descend(6)
    stream = deflate()
    return len(blocks) + len(chain) + len(stream.flush())


main()

"""How far two saved states are apart: the largest difference of two numbers in the same place."""

import sys

import torch


def main() -> None:
    a, b = (torch.load(path) for path in sys.argv[1:3])
    if a.keys() != b.keys():
        sys.exit("the states have different tensors")
    print(max((a[name].double() - b[name].double()).abs().max().item() for name in a))


if __name__ == "__main__":
    main()

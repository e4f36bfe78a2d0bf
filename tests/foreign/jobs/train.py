"""A training loop as people write it: python3 train.py EPOCHS [--leak] [--seed N] [--save FILE] [--end-by SIGNAL]"""

import argparse
import os
import signal

import torch

arguments = argparse.ArgumentParser()
arguments.add_argument("epochs", type=int)
arguments.add_argument("--leak", action="store_true")
arguments.add_argument("--seed", type=int, default=1)
arguments.add_argument("--save")
arguments.add_argument("--end-by")
options = arguments.parse_args()
with open("/proc/self/statm") as statm:
    print("libraries loaded, resident", int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"), flush=True)

torch.manual_seed(options.seed)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
inputs, labels = torch.randn(4096, 256), torch.randint(0, 10, (4096,))
kept = []
for epoch in range(1, options.epochs + 1):
    print(f"epoch {epoch}", flush=True)
    for batch in range(0, 4096, 256):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(inputs[batch:batch + 256]), labels[batch:batch + 256])
        loss.backward()
        optimizer.step()
    if options.leak:
        kept.append(torch.ones(262144))
if options.save:
    torch.save(model.state_dict(), options.save)
if options.end_by:
    os.kill(os.getpid(), signal.Signals[options.end_by])

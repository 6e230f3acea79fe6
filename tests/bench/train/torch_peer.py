# SPDX-License-Identifier: BSD-2-Clause
"""The peer of trib-train: PyTorch's DistributedDataParallel over Gloo, with PyTorch's own
communication hooks. One process a rank, as TRIB_RANK and TRIB_WORLD say.

    torch_peer.py [OPTION...] -J FILE

The same model, first parameters, samples, batches' sizes, optimiser and learning rates
as trib-train's (bench-train-data, trib-train --initial). Time is that of training
alone, without evaluation, from the first step on, as trib-train measures it.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from datetime import timedelta

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel

BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3, "build")
DIM, CLASSES = 64, 8
RATE, RATE_END, MOMENTUM = 0.1, 0.05, 0.9


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--hook", default="none",
                   help="none, bf16, or powersgd:RANK:STEP, the first compressed step")
    p.add_argument("--task", default="loud8")
    p.add_argument("--hidden", default="320,320")
    for name, value in (("epochs", 6), ("batch", 128), ("samples", 32768),
                        ("test", 10240), ("seed", 1)):
        p.add_argument(f"--{name}", type=int, default=value)
    p.add_argument("--meet", required=True, help="a file by which ranks find each other")
    p.add_argument("-J", dest="json", required=True)
    return p.parse_args()


def load_samples(o, rank, world):
    """((x, label) for training, the same for testing)."""
    raw = subprocess.run(
        [os.path.join(BUILD, "bench-train-data"), o.task, str(o.seed), str(o.samples),
         str(o.test), str(rank), str(world)], check=True, stdout=subprocess.PIPE).stdout
    sets, at = [], 0
    for _ in range(2):
        n = int(np.frombuffer(raw, "<u8", 1, at)[0])
        x = np.frombuffer(raw, "<f4", n * DIM, at + 8).reshape(n, DIM)
        at += 8 + 4 * n * DIM
        label = np.frombuffer(raw, "u1", n, at)
        at += n
        sets.append((torch.from_numpy(x.copy()), torch.from_numpy(label.astype(np.int64))))
    return sets


def make_model(o):
    """The perceptron with trib-train's first parameters: last layer first."""
    widths = [DIM, *map(int, o.hidden.split(",")), CLASSES]
    linear = [nn.Linear(a, b) for a, b in zip(widths, widths[1:])]
    path = f"{o.meet}.initial{os.getpid()}"
    subprocess.run([os.path.join(BUILD, "trib-train"), "--task", o.task, "--hidden", o.hidden,
                    "--seed", str(o.seed), "--initial", path], check=True,
                   stdout=subprocess.DEVNULL)
    first = torch.from_numpy(np.fromfile(path, "<f4"))
    os.unlink(path)
    at = 0
    with torch.no_grad():
        for layer in reversed(linear):
            for p in (layer.weight, layer.bias):
                p.copy_(first[at:at + p.numel()].view_as(p))
                at += p.numel()
    layers = []
    for layer in linear:
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def add_hook(ddp, text):
    name, *numbers = text.split(":")
    if name == "bf16":
        ddp.register_comm_hook(None, default_hooks.bf16_compress_hook)
    elif name == "powersgd":
        rank, first = map(int, numbers)
        ddp.register_comm_hook(
            powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=rank,
                                        start_powerSGD_iter=first),
            powerSGD_hook.powerSGD_hook)
    elif name != "none":
        sys.exit(f"torch_peer: no hook '{text}'")


def summed(*values):
    t = torch.tensor(values, dtype=torch.float64)
    dist.all_reduce(t)
    return t.tolist()


def train(o, rank, world):
    (x, label), (test_x, test_label) = load_samples(o, rank, world)
    ddp = DistributedDataParallel(make_model(o))
    add_hook(ddp, o.hook)
    rows = o.batch // world
    steps = len(x) // rows
    sgd = torch.optim.SGD(ddp.parameters(), lr=RATE, momentum=MOMENTUM)
    loss_of = nn.CrossEntropyLoss()
    epochs, seconds = [], 0.0
    dist.barrier()
    for epoch in range(o.epochs):
        order = torch.randperm(
            len(x), generator=torch.Generator().manual_seed(o.seed * 1000 + epoch * 64 + rank))
        begun, loss_sum = time.monotonic(), 0.0
        for i in range(steps):
            done = (epoch * steps + i) / (steps * o.epochs)
            for group in sgd.param_groups:
                group["lr"] = RATE * (1 - (1 - RATE_END) * done)
            at = order[i * rows:(i + 1) * rows]
            sgd.zero_grad()
            loss = loss_of(ddp(x[at]), label[at])
            loss.backward()
            sgd.step()
            loss_sum += loss.item()
        seconds += time.monotonic() - begun
        with torch.no_grad():
            right = (ddp.module(test_x).argmax(1) == test_label).sum().item()
        right, count, loss_sum = summed(right, len(test_x), loss_sum / steps / world)
        epochs.append({"loss": loss_sum, "test": right / count, "seconds": seconds})
    return {"tool": "torch_peer", "torch": torch.__version__, "hook": o.hook,
            "parameters": sum(p.numel() for p in ddp.parameters()),
            "test_accuracy": epochs[-1]["test"], "seconds": seconds,
            "steps": steps * o.epochs, "epochs": epochs}


def main():
    o = options()
    rank, world = int(os.environ["TRIB_RANK"]), int(os.environ["TRIB_WORLD"])
    os.environ["GLOO_SOCKET_IFNAME"] = "eth0"
    torch.set_num_threads(1)
    torch.manual_seed(o.seed)
    dist.init_process_group("gloo", init_method=f"file://{o.meet}", rank=rank,
                            world_size=world, timeout=timedelta(seconds=60))
    result = train(o, rank, world)
    dist.barrier()
    dist.destroy_process_group()
    if not rank:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump(result, f)
    # Threads of its process group may still run, and abort an ordinary exit.
    os._exit(0)


main()

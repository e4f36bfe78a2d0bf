"""The share of predictions that are right, which APPFL's trainer logs."""

import numpy as np


def accuracy(targets: np.ndarray, predictions: np.ndarray) -> float:
    return float((predictions.argmax(axis=1) == targets).mean())

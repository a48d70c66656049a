# SPDX-License-Identifier: MIT
"""Of what takes too long for every change, a change tries one in five, drawn by its commit."""
import random

ONE_IN = 5


def drawn(cases, seed):
    """A fifth of the cases in a drawn order, at least one of them, the same for the same seed; all, as they are, without a seed."""
    cases = list(cases)
    return random.Random(seed).sample(cases, -(-len(cases) // ONE_IN)) if seed else cases

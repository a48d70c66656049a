# SPDX-License-Identifier: MIT
"""Times that gemm's own cost formula gives with other constants, as tools/bench --costs --run would write them: fit_costs.py OUT.csv"""
import csv
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "gpu"))
import gemm_costs
import numpy

formula = gemm_costs.Formula(gemm_costs.SOURCE)
generator = random.Random(1)
numbers = [max(1, round(number * generator.choice((0.7, 0.85, 1.2, 1.4)))) for number in formula.numbers]
shapes = numpy.array(gemm_costs.draw_shapes(120, 1))
times = [numpy.where(formula.may_run(name, shapes), formula.cost(name, numbers, shapes) / 1000, numpy.inf) for name in formula.sets]
with open(sys.argv[1], "w", newline="") as f:
    writer = csv.writer(f)
    writer.writerow(["M", "N", "K", "cublasLt", *formula.sets])
    for i, shape in enumerate(shapes):
        writer.writerow([*shape, min(t[i] for t in times), *(t[i] for t in times)])

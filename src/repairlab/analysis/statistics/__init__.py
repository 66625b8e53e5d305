"""Statistics as pure functions over plain sequences and arrays; nothing here reads a store.

Proportions are fractions of 1, never points. A number that the data cannot give is a `NotEstimable` with its
reason, which tables print; NaN never leaves this package. Differences are first arm minus second.
"""

from repairlab.analysis.statistics.bounds import PartialTask, WorstCase, worst_case
from repairlab.analysis.statistics.clustered_score import clustered_score
from repairlab.analysis.statistics.contrast import Contrast, contrast
from repairlab.analysis.statistics.graph import Graph, GraphTest, graph_of, graph_test, holm_graph
from repairlab.analysis.statistics.mcnemar import ChiSquare, McNemar, mcnemar, mcnemar_chi_square
from repairlab.analysis.statistics.multiplicity import benjamini_hochberg, bonferroni, holm, tarone_holm
from repairlab.analysis.statistics.paired_intervals import newcombe_paired, tango
from repairlab.analysis.statistics.sampled_flips import SampledFlips, sampled_sign_flip
from repairlab.analysis.statistics.signflip import SignFlip, sign_flip
from repairlab.analysis.statistics.values import Interval, NotEstimable
from repairlab.analysis.statistics.verdicts import Expected, Verdict, equivalent, intersection_union, verdict
from repairlab.analysis.statistics.wilson import wilson

__all__ = [
    "ChiSquare",
    "Contrast",
    "Expected",
    "Graph",
    "GraphTest",
    "Interval",
    "McNemar",
    "NotEstimable",
    "PartialTask",
    "SampledFlips",
    "SignFlip",
    "Verdict",
    "WorstCase",
    "benjamini_hochberg",
    "bonferroni",
    "clustered_score",
    "contrast",
    "equivalent",
    "graph_of",
    "graph_test",
    "holm",
    "holm_graph",
    "intersection_union",
    "mcnemar",
    "mcnemar_chi_square",
    "newcombe_paired",
    "sampled_sign_flip",
    "sign_flip",
    "tango",
    "tarone_holm",
    "verdict",
    "wilson",
    "worst_case",
]

"""Statistics as pure functions over plain sequences and arrays; nothing here reads a store.

Proportions are fractions of 1, never points. A number that the data cannot give is a `NotEstimable` with its
reason, which tables print; NaN never leaves this package. Differences are first arm minus second.
"""

from repairlab.analysis.statistics.bootstrap import (
    Bootstrap,
    percentile_interval,
    resampled_sums,
    two_sided_p,
)
from repairlab.analysis.statistics.bounds import PartialTask, WorstCase, worst_case
from repairlab.analysis.statistics.clustered_score import clustered_score
from repairlab.analysis.statistics.cochran import cochran_q
from repairlab.analysis.statistics.conditional_logit import ConditionalLogit, conditional_logit
from repairlab.analysis.statistics.contrast import Contrast, contrast
from repairlab.analysis.statistics.costs import (
    Clocks,
    CostPerResolved,
    CostRatio,
    SpentTask,
    TaskCosts,
    clocks,
    cost_per_resolved,
    cost_ratio,
    mean_cost,
)
from repairlab.analysis.statistics.flips import Flips, flips_against
from repairlab.analysis.statistics.graph import (
    Graph,
    GraphTest,
    graph_of,
    graph_test,
    holm_graph,
    shares_without,
)
from repairlab.analysis.statistics.localisation import (
    KnownMean,
    all_gold,
    edit_precision,
    file_recall,
    first_gold_rank,
    macro_mean,
)
from repairlab.analysis.statistics.mcnemar import ChiSquare, McNemar, mcnemar, mcnemar_chi_square, sign_test
from repairlab.analysis.statistics.multiplicity import benjamini_hochberg, bonferroni, holm, tarone_holm
from repairlab.analysis.statistics.oracle_gap import OracleGap, folds_of, oracle_gap
from repairlab.analysis.statistics.outcomes import Outcomes, outcomes_of
from repairlab.analysis.statistics.paired_intervals import newcombe_paired, tango
from repairlab.analysis.statistics.regressions import MarginalModel, MixedModel, marginal_model, mixed_model
from repairlab.analysis.statistics.reliability import Measured, Reliability, reliability
from repairlab.analysis.statistics.sampled_flips import SampledFlips, sampled_sign_flip
from repairlab.analysis.statistics.scores import fix_score, no_regression
from repairlab.analysis.statistics.sensitivity import Comparison, SensitivityRow, sensitivity
from repairlab.analysis.statistics.signflip import SignFlip, sign_flip
from repairlab.analysis.statistics.values import Effect, Interval, NotEstimable
from repairlab.analysis.statistics.verdicts import Expected, Verdict, equivalent, intersection_union, verdict
from repairlab.analysis.statistics.wilson import wilson

__all__ = [
    "Bootstrap",
    "ChiSquare",
    "Clocks",
    "Comparison",
    "ConditionalLogit",
    "Contrast",
    "CostPerResolved",
    "CostRatio",
    "Effect",
    "Expected",
    "Flips",
    "Graph",
    "GraphTest",
    "Interval",
    "KnownMean",
    "MarginalModel",
    "McNemar",
    "Measured",
    "MixedModel",
    "NotEstimable",
    "OracleGap",
    "Outcomes",
    "PartialTask",
    "Reliability",
    "SampledFlips",
    "SensitivityRow",
    "SignFlip",
    "SpentTask",
    "TaskCosts",
    "Verdict",
    "WorstCase",
    "all_gold",
    "benjamini_hochberg",
    "bonferroni",
    "clocks",
    "clustered_score",
    "cochran_q",
    "conditional_logit",
    "contrast",
    "cost_per_resolved",
    "cost_ratio",
    "edit_precision",
    "equivalent",
    "file_recall",
    "first_gold_rank",
    "fix_score",
    "flips_against",
    "folds_of",
    "graph_of",
    "graph_test",
    "holm",
    "holm_graph",
    "intersection_union",
    "macro_mean",
    "marginal_model",
    "mcnemar",
    "mcnemar_chi_square",
    "mean_cost",
    "mixed_model",
    "newcombe_paired",
    "no_regression",
    "oracle_gap",
    "outcomes_of",
    "percentile_interval",
    "reliability",
    "resampled_sums",
    "sampled_sign_flip",
    "sensitivity",
    "shares_without",
    "sign_flip",
    "sign_test",
    "tango",
    "tarone_holm",
    "two_sided_p",
    "verdict",
    "wilson",
    "worst_case",
]

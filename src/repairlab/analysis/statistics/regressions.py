"""Two registered sensitivity models that statsmodels fits. Neither changes a verdict.

statsmodels is imported when a model is fitted; it belongs to the extra `analysis`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from repairlab.analysis.statistics.bootstrap import Floats
from repairlab.analysis.statistics.outcomes import Outcomes
from repairlab.analysis.statistics.values import Effect, NotEstimable, too_few
from repairlab.contract.errors import RefuseToStart

Places = npt.NDArray[np.signedinteger]

# Its dense design has a column for each task and for each task under each model.
_MOST_MIXED_TASKS = 400


@dataclass(frozen=True, slots=True, eq=False)
class MarginalModel:
    """Standardised rates of a GEE: each arm's mean predicted rate over all tasks and models.

    Attributes:
        arms: the arms.
        rates: shape (arms,).
        covariance: delta method on the bias-reduced covariance; shape (arms, arms).
    """

    arms: tuple[str, ...]
    rates: Floats
    covariance: Floats

    def difference(self, arm: str, against: str) -> Effect:
        """Standardised risk difference of two arms."""
        contrast = np.zeros(len(self.arms))
        contrast[self.arms.index(arm)] += 1
        contrast[self.arms.index(against)] -= 1
        variance = float(contrast @ self.covariance @ contrast)
        return Effect(float(contrast @ self.rates), max(0.0, variance) ** 0.5)


@dataclass(frozen=True, slots=True, eq=False)
class MixedModel:
    """Arm effects of a logistic mixed model on the log odds scale, from a variational posterior.

    Attributes:
        arms: the arms.
        effects: posterior means, one an arm.
        errors: posterior standard deviations.
    """

    arms: tuple[str, ...]
    effects: Floats
    errors: Floats

    def difference(self, arm: str, against: str) -> Effect:
        """Log odds ratio of two arms. Given the random intercepts the arms' effects are independent."""
        one, two = self.arms.index(arm), self.arms.index(against)
        error = float(np.hypot(self.errors[one], self.errors[two]))
        return Effect(float(self.effects[one] - self.effects[two]), error)


def marginal_model(outcomes: Outcomes) -> MarginalModel | NotEstimable:
    """GEE: logit, arm x model + repository, groups are tasks, exchangeable, bias-reduced covariance.

    The covariance is Mancl & DeRouen's (Biometrics 2001;57:126-134).

    Raises:
        RefuseToStart: statsmodels is not installed.
    """
    if missing := too_few(len(outcomes.tasks)) or _no_variation(outcomes):
        return missing
    with _statsmodels():
        from statsmodels.genmod.cov_struct import Exchangeable
        from statsmodels.genmod.families import Binomial
        from statsmodels.genmod.generalized_estimating_equations import GEE
    design = _interactions(outcomes)
    groups = np.repeat(np.arange(len(outcomes.tasks)), len(outcomes.arms) * len(outcomes.models))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fit = GEE(
                outcomes.resolved.ravel(),
                design,
                groups=groups,
                family=Binomial(),
                cov_struct=Exchangeable(),
            ).fit(cov_type="bias_reduced")
    except (Warning, np.linalg.LinAlgError) as problem:
        return NotEstimable(f"not fitted: {str(problem).splitlines()[0]}")
    rate = 1 / (1 + np.exp(-(design @ fit.params)))
    shape = outcomes.resolved.shape
    slope = (rate * (1 - rate))[:, None] * design
    gradient = slope.reshape(*shape, -1).mean(axis=(0, 2))
    rates = rate.reshape(shape).mean(axis=(0, 2))
    return MarginalModel(outcomes.arms, rates, gradient @ np.asarray(fit.cov_params()) @ gradient.T)


def mixed_model(outcomes: Outcomes) -> MixedModel | NotEstimable:
    """Logistic mixed model: effects of arm, model, repository; random intercepts of task and task x model.

    Fitted by variational Bayes, whose intervals are too narrow; a sensitivity analysis and no more. Each arm
    has a coefficient of its own and there is no common intercept: a contrast of arms is made within groups,
    and the factorised posterior then leaves no correlation out that would change it much.

    Raises:
        RefuseToStart: statsmodels is not installed.
    """
    if missing := too_few(len(outcomes.tasks)) or _no_variation(outcomes):
        return missing
    if len(outcomes.tasks) > _MOST_MIXED_TASKS:
        return NotEstimable(f"not fitted: more than {_MOST_MIXED_TASKS} tasks")
    with _statsmodels():
        from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM
    tasks, arms, models = outcomes.resolved.shape
    task, arm, model = (grid.ravel() for grid in np.indices(outcomes.resolved.shape))
    fixed = np.column_stack([np.eye(arms)[arm], *_centred(outcomes, task, model)])
    groups, kinds = np.eye(tasks)[task], np.zeros(tasks, dtype=np.int64)
    if models > 1:
        groups = np.column_stack([groups, np.eye(tasks * models)[task * models + model]])
        kinds = np.concatenate([kinds, np.ones(tasks * models, dtype=np.int64)])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fit = BinomialBayesMixedGLM(
                outcomes.resolved.ravel(), fixed, groups, kinds, vcp_p=1, fe_p=2
            ).fit_vb()
    except (Warning, np.linalg.LinAlgError) as problem:
        return NotEstimable(f"not fitted: {str(problem).splitlines()[0]}")
    return MixedModel(outcomes.arms, np.asarray(fit.fe_mean)[:arms], np.asarray(fit.fe_sd)[:arms])


def _interactions(outcomes: Outcomes) -> Floats:
    """Full-rank columns of arm x model, then of repository; rows by task, arm, model."""
    _, arms, models = outcomes.resolved.shape
    task, arm, model = (grid.ravel() for grid in np.indices(outcomes.resolved.shape))
    return np.column_stack([np.eye(arms * models)[arm * models + model], *_repositories(outcomes, task)])


def _centred(outcomes: Outcomes, task: Places, model: Places) -> list[Floats]:
    models = [(model == layer).astype(np.float64) for layer in range(1, len(outcomes.models))]
    return [column - column.mean() for column in (*models, *_repositories(outcomes, task))]


def _repositories(outcomes: Outcomes, task: Places) -> list[Floats]:
    names = sorted(set(outcomes.repositories))
    member = np.array([names.index(name) for name in outcomes.repositories])[task]
    return [(member == place).astype(np.float64) for place in range(1, len(names))]


def _no_variation(outcomes: Outcomes) -> NotEstimable | None:
    """Odds of 0 or infinity have no finite coefficient; the fitters return a number there all the same."""
    rates = outcomes.resolved.mean(axis=0)
    for place in np.argwhere((rates == 0) | (rates == 1)):
        arm, model = outcomes.arms[place[0]], outcomes.models[place[1]]
        return NotEstimable(f"separated: {arm} under {model} solves all tasks or none")
    for name in sorted(set(outcomes.repositories)):
        rows = [place for place, other in enumerate(outcomes.repositories) if other == name]
        if outcomes.resolved[rows].mean() in (0, 1):
            return NotEstimable(f"separated: all or none of {name} is solved")
    return None


@contextmanager
def _statsmodels() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise RefuseToStart(
            "the sensitivity models need statsmodels", repair="install the extra: repairlab[analysis]"
        ) from error

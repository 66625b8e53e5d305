"""How likely the study is to see an effect: seeded simulations of its registered tests, on invented data."""

from repairlab.analysis.power.family import FAMILY_SCENARIOS, FamilyRow, FamilyScenario, family_power
from repairlab.analysis.power.two_arms import PAIRINGS, PowerRow, two_arm_power

__all__ = [
    "FAMILY_SCENARIOS",
    "PAIRINGS",
    "FamilyRow",
    "FamilyScenario",
    "PowerRow",
    "family_power",
    "two_arm_power",
]

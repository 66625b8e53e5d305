"""An experiment names its embedder exactly where a treatment embeds."""

from __future__ import annotations

import pytest

from repairlab.contract.errors import BadInput
from repairlab.contract.study import Study, load_inputs


def edit(study: Study, treatments: str, embedder: str) -> None:
    path = study.experiment_file("small")
    text = path.read_text().replace('treatments = ["H000", "H018"]', f"treatments = {treatments}")
    path.write_text(text.replace("seeds = [0]", f'seeds = [0]\nembedder = "{embedder}"'))


@pytest.mark.parametrize("treatment", ["H003", "H007", "H011"])
def test_dense_retrieval_needs_an_embedder(study: Study, treatment: str) -> None:
    edit(study, f'["H000", "{treatment}"]', "")
    with pytest.raises(BadInput, match=f"embedder: the treatment {treatment} needs one"):
        load_inputs(study, "small")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("FLOOR", "FLOOR is no embedder but an agent"),
        ("NOTHING", "unknown 'NOTHING'"),
        ("EMB002", "EMB002 does not fit an experiment of kind 'calibration'"),
    ],
)
def test_the_embedder_must_be_one_of_the_right_kind(study: Study, name: str, message: str) -> None:
    edit(study, '["H000", "H003"]', name)
    with pytest.raises(BadInput, match=message):
        load_inputs(study, "small")


def test_an_embedder_that_nothing_uses_is_refused(study: Study) -> None:
    edit(study, '["H000", "A002"]', "HASHING")
    with pytest.raises(BadInput, match="no treatment has dense retrieval"):
        load_inputs(study, "small")


def test_the_embedder_is_read_where_it_is_needed_alone(study: Study) -> None:
    assert load_inputs(study, "small").embedder is None
    edit(study, '["H000", "H003"]', "HASHING")
    embedder = load_inputs(study, "small").embedder
    assert embedder is not None
    assert (embedder.facts.key, embedder.context_tokens) == ("repairlab/hashing-embedder", 32768)


def test_two_tools_of_one_name_in_one_treatment_are_refused(study: Study) -> None:
    path = study.contracts / "treatments.toml"
    path.write_text(path.read_text().replace('"search_hybrid",', '"search_hybrid", "search",'))
    with pytest.raises(BadInput, match="two tools of one treatment are called 'search'"):
        load_inputs(study, "small")


def preregister(study: Study) -> None:
    """Make the small experiment one of the study, with agents that are no calibration models."""
    path = study.experiment_file("small")
    text = path.read_text().replace('kind = "calibration"', 'kind = "main"').replace("emulator", "lmstudio")
    path.write_text(text.replace('["FLOOR", "NAVIGATOR"]', '["M002", "M003"]'))


def test_a_padded_embedder_is_refused_by_a_preregistered_experiment(study: Study) -> None:
    edit(study, '["H000", "H003"]', "MINILM")
    preregister(study)
    with pytest.raises(BadInput, match="MINILM has 384 dimensions, padded with zeros; a main run refuses it"):
        load_inputs(study, "small")
    path = study.contracts / "models.toml"
    path.write_text(path.read_text().replace(", native_dimensions = 384, padded = true", ""))
    assert load_inputs(study, "small").embedder is not None


@pytest.mark.parametrize("left", ["native_dimensions = 384", "padded = true"])
def test_padding_and_what_it_pads_are_declared_together(study: Study, left: str) -> None:
    path = study.contracts / "models.toml"
    path.write_text(path.read_text().replace("native_dimensions = 384, padded = true", left))
    with pytest.raises(BadInput, match="stand together or not at all"):
        load_inputs(study, "small")

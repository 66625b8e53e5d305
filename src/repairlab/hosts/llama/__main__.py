"""``python -m repairlab.hosts.llama WEIGHTS CONTEXT THREADS``: llama.cpp's server, until standard input ends.

One model, one slot, on the loopback interface. A context above the trained one is reached by YaRN scaling
(Peng et al. 2023). The first line of standard output is the address as JSON; everything else that the engine
has to say goes to standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from types import ModuleType

from repairlab.hosts.llama.package import ENGINE_PACKAGE, TRAINED_CONTEXT


def main() -> None:
    """Load, print the address, serve. A failure to load is an exception, and a status that is not 0."""
    weights, context, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    ready = os.dup(1)
    os.dup2(2, 1)
    engine = importlib.import_module(ENGINE_PACKAGE)
    server = engine.Server(_parameters(engine, weights, context, threads))
    os.write(ready, json.dumps({"url": server.listening_address}).encode() + b"\n")
    while os.read(0, 4096):
        continue
    os._exit(0)  # the memory goes with the process; the engine's threads are not waited for


def _parameters(engine: ModuleType, weights: str, context: int, threads: int) -> object:
    parameters = engine.CommonParams()
    parameters.model.path = weights
    parameters.n_ctx = context
    parameters.n_parallel = 1
    parameters.n_batch = parameters.n_ubatch = 512
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.flash_attn_type = engine.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
    parameters.fit_params = False  # take the context that was asked for, or fail
    parameters.ctx_shift = False  # nor forget the beginning of a conversation
    parameters.cache_ram_mib = 0  # keep what the slot holds, and no store of earlier conversations
    parameters.ui = False
    parameters.verbosity = 0
    if context > TRAINED_CONTEXT:
        parameters.rope_scaling_type = engine.llama_rope_scaling_type.LLAMA_ROPE_SCALING_TYPE_YARN
        parameters.yarn_orig_ctx = TRAINED_CONTEXT
        parameters.rope_freq_scale = TRAINED_CONTEXT / context
    return parameters


if __name__ == "__main__":
    main()

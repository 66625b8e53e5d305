"""A real small text embedder on onnxruntime: an optional part, for dense treatments with no other host.

It gives 384 dimensions where the study asks for 1,024. The rest are zeros, which keeps lengths and cosines,
and the model's facts say so: it is never the embedder of the study.
"""

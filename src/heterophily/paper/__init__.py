"""The paper's data: published numbers, hyper-parameters, ranges and presets."""

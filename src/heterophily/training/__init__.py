"""Step 6: model, split and seed in, a fit result out; many of them over worker processes."""

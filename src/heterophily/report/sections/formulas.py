"""The formulas behind the numbers, folded away."""

from __future__ import annotations

from heterophily.metrics.catalog import METRICS
from heterophily.page.text import safe

FORMULAS = {
    **{
        f"{metric.title[:1].upper()}{metric.title[1:]}": (metric.formula, metric.words)
        for metric in METRICS.values()
    },
    "Similarity after aggregation": (
        "S(Â, X) = ÂX (ÂX)ᵀ",
        "post-aggregation node similarity, here with one-hot labels Z in place of X for H_agg",
    ),
    "Class compatibility": (
        "H_kl = (Zᵀ A Z)_kl / Σ_m (Zᵀ A Z)_km",
        "share of the neighbours of class k that are of class l",
    ),
    "Adaptive channel mixing": (
        "H = α_L·ReLU(ÂHW_L) + α_H·ReLU((I−Â)HW_H) + α_I·ReLU(HW_I); "
        "[α_L, α_H, α_I] = Softmax([σ(H_L w_L), σ(H_H w_H), σ(H_I w_I)] W_mix / T)",
        "each node weighs low-pass, high-pass and identity channel by itself",
    ),
    "Corrected resampled t-test": (
        "t = d̄ / √((1/R + n_test/n_train) s_d²)",
        "paired differences on R overlapping splits, R − 1 degrees of freedom",
    ),
}


def formulas_part() -> str:
    """Return the formulas in one folded element."""
    rows = "".join(
        f"<p><strong>{safe(name)}</strong>: {safe(words)}</p><p class='formula'>{safe(formula)}</p>"
        for name, (formula, words) in FORMULAS.items()
    )
    return f"<details><summary>Formulas</summary>{rows}</details>"

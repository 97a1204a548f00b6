"""The formulas behind the numbers, folded away."""

from __future__ import annotations

from heterophily.page.text import safe

FORMULAS = {
    "Edge homophily": (
        "H_edge = |{(u,v) ∈ E : z_u = z_v}| / |E|",
        "share of edges whose two ends have the same class",
    ),
    "Node homophily": (
        "H_node = (1/|V|) Σ_v |{u ∈ N_v : z_u = z_v}| / d_v",
        "mean of the local homophily H_node^v over the nodes",
    ),
    "Class homophily": (
        "H_class = 1/(C−1) Σ_k max(h_k − |{v : z_v = k}|/N, 0)",
        "homophily of each class beyond its share of the nodes",
    ),
    "Adjusted homophily": (
        "h_adj = (H_edge − Σ_k p_k²) / (1 − Σ_k p_k²)",
        "edge homophily corrected for chance; p_k is the share of edge ends in class k",
    ),
    "Label informativeness": (
        "LI = I(z_u; z_v) / H(z_u) over random edges",
        "how much a neighbour's class tells about a node's class",
    ),
    "Similarity after aggregation": (
        "S(Â, X) = ÂX (ÂX)ᵀ",
        "post-aggregation node similarity, here with one-hot labels Z in place of X for H_agg",
    ),
    "Aggregation homophily": (
        "H_agg = (1/|V|) |{v : mean_u(S(Â,Z)_vu | z_u = z_v) ≥ mean_u(S(Â,Z)_vu | z_u ≠ z_v)}|",
        "share of nodes that stay nearer to their own class after aggregation",
    ),
    "Modified aggregation homophily": (
        "H_agg^M = max(2 H_agg − 1, 0)",
        "rescaled so that chance is 0",
    ),
    "Diversification distinguishability": (
        "DD = share of nodes v with mean same-class S(I−Â,X) ≥ 0 ≥ mean other-class S(I−Â,X)",
        "nodes whom differences to neighbours tell apart",
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

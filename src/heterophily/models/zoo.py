"""The models that the paper compares with: one line each."""

from __future__ import annotations

from heterophily.layers.inputs import InputOptions
from heterophily.models.appnp import Appnp, AppnpOptions
from heterophily.models.bernnet import Bernnet, BernnetOptions
from heterophily.models.fagcn import Fagcn, FagcnOptions
from heterophily.models.gat import Gat, GatOptions
from heterophily.models.geom_gcn import GeomGcn, GeomGcnOptions
from heterophily.models.ggcn import Ggcn, GgcnOptions
from heterophily.models.glognn import Glognn, GlognnOptions
from heterophily.models.gprgnn import Gprgnn, GprgnnOptions
from heterophily.models.graphsage import Graphsage, GraphsageOptions
from heterophily.models.h2gcn import H2gcn, H2gcnOptions
from heterophily.models.jumping_knowledge import GatJk, GatJkOptions, GcnJk, GcnJkOptions
from heterophily.models.linkx import Linkx, LinkxOptions
from heterophily.models.mixhop import Mixhop, MixhopOptions
from heterophily.models.nonlocal_gnn import NonLocal, NonLocalOptions
from heterophily.models.sheaf_diffusion import SheafDiffusion, SheafOptions
from heterophily.models.spec import ModelSpec
from heterophily.models.wrgat import Wrgat, WrgatOptions

SYMMETRIC = InputOptions(normalization="symmetric")  # D̃^-1/2 (A + I) D̃^-1/2
LOOPLESS = InputOptions(normalization="symmetric", renormalize=False)  # I - L
MEAN = InputOptions(renormalize=False)  # mean over the neighbours
STRUCTURE = InputOptions(normalization="symmetric", with_structure=True)
RAW = InputOptions(row_normalize=False, with_structure=True)  # X as it is, beside A

ZOO = {
    "gat": ModelSpec(Gat, GatOptions(), SYMMETRIC),
    "appnp": ModelSpec(Appnp, AppnpOptions(), SYMMETRIC),
    "gprgnn": ModelSpec(Gprgnn, GprgnnOptions(), SYMMETRIC),
    "gcn+jk": ModelSpec(GcnJk, GcnJkOptions(), SYMMETRIC),
    "gat+jk": ModelSpec(GatJk, GatJkOptions(), SYMMETRIC),
    "mixhop": ModelSpec(Mixhop, MixhopOptions(), SYMMETRIC),
    "fagcn": ModelSpec(Fagcn, FagcnOptions(), LOOPLESS),
    "graphsage": ModelSpec(Graphsage, GraphsageOptions(), MEAN),
    "h2gcn": ModelSpec(H2gcn, H2gcnOptions(), STRUCTURE),
    "linkx": ModelSpec(Linkx, LinkxOptions(), RAW),
    "bernnet": ModelSpec(Bernnet, BernnetOptions(), LOOPLESS),
    "glognn": ModelSpec(Glognn, GlognnOptions(), STRUCTURE),
    "glognn++": ModelSpec(Glognn, GlognnOptions(use_importance=True), STRUCTURE),
    "nlmlp": ModelSpec(NonLocal, NonLocalOptions(local="mlp")),
    "nlgcn": ModelSpec(NonLocal, NonLocalOptions(local="gcn"), SYMMETRIC),
    "nlgat": ModelSpec(NonLocal, NonLocalOptions(local="gat", hidden=8), SYMMETRIC),
    "ggcn": ModelSpec(Ggcn, GgcnOptions(), SYMMETRIC),
    "diag-nsd": ModelSpec(SheafDiffusion, SheafOptions(maps="diagonal"), STRUCTURE),
    "o(d)-nsd": ModelSpec(SheafDiffusion, SheafOptions(maps="orthogonal"), STRUCTURE),
    "gen-nsd": ModelSpec(SheafDiffusion, SheafOptions(maps="general"), STRUCTURE),
    "wrgat": ModelSpec(Wrgat, WrgatOptions(), STRUCTURE),
    "geom-gcn": ModelSpec(GeomGcn, GeomGcnOptions(), STRUCTURE),
}

"""The table of datasets: what each one is and what it must contain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from heterophily.data import upstream
from heterophily.data.embedded import EMBEDDED
from heterophily.data.pieces import Pieces
from heterophily.data.upstream import Source

_GEOM_GCN = "Geom-GCN (Pei et al. 2020); no licence stated"
_PLANETOID = "Planetoid (Yang et al. 2016), MIT; splits of Geom-GCN, no licence stated"
_YANDEX = "heterophilous-graphs (Platonov et al. 2023), MIT"
_DEEZER = (
    "SNAP / FEATHER (Rozemberczki and Sarkar 2020), MIT; splits of Lim et al. 2021, MIT in their "
    "repository"
)
_GRAPH_DATA = "the collection GraphData, MIT in its repository; splits drawn here"
_FB100 = "Facebook100 (Traud et al. 2012) as given by Lim et al. 2021; MIT in their repository"
_NETWORKX = "the package networkx, BSD-3-Clause"
_GDS = "the package graphdatascience, Apache-2.0 (extra: data)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """What a dataset declares; everything is checked after loading.

    ``edges`` counts distinct undirected edges without self loops. ``content_hash`` is that of the
    graph under the default options of :func:`load`, ``splits_hash`` that of its split sets; None
    where the counts alone are known. ``drawn`` is the number of ``"fixed"`` splits that are drawn
    here (stratified 60/20/20, seed 0) because the source has none.
    """

    name: str
    variant: str
    nodes: int
    edges: int
    features: int
    classes: int
    content_hash: str | None
    origin: str
    splits: Mapping[str, int]
    splits_hash: str | None = None
    lists_edges_once: bool = False
    drawn: int = 0
    source: Source | None = None
    embedded: Callable[[], Pieces] | None = None

    @property
    def file_name(self) -> str:
        """Name of the dataset's file in a data folder or in the cache."""
        return f"{self.name}.npz"


TEN_AND_PUBLIC = {"fixed": 10, "public": 1}
TEN = {"fixed": 10}

_TABLE = (
    Dataset(
        name="cornell",
        variant=(
            "Geom-GCN's Cornell, as in the paper: Cornell's graph with the features and"
            " labels of Texas (the public files are byte-identical); see cornell-"
            "corrected."
        ),
        nodes=183,
        edges=277,
        features=1_703,
        classes=5,
        content_hash="2fe40cbdfb4b36ab222b21af8dc743c6eb9de0afc226ff5a7c23abc6a9a4e179",
        origin=_GEOM_GCN,
        splits=TEN,
        splits_hash="bcc0a3a4a5db0d384e0499a964aed58965cf39a8b365dc5c70432d451671be0b",
        source=upstream.geom_gcn("cornell"),
    ),
    Dataset(
        name="wisconsin",
        variant=(
            "Geom-GCN's Wisconsin, as in the paper; directed in the source, with 16 self loops."
        ),
        nodes=251,
        edges=450,
        features=1_703,
        classes=5,
        content_hash="8db8da5ff9dad72adbd9ba9e6a57b366e2e389271084eb188714ce44ac57940c",
        origin=_GEOM_GCN,
        splits=TEN,
        splits_hash="181b8da2f3df0133290ce73a29af2ace1d01c45d8c54270528ab2061cae34000",
        source=upstream.geom_gcn("wisconsin"),
    ),
    Dataset(
        name="texas",
        variant=(
            "Geom-GCN's Texas, as in the paper; directed in the source, with 16 self "
            "loops; one class has a single node."
        ),
        nodes=183,
        edges=279,
        features=1_703,
        classes=5,
        content_hash="77f61770b9ddf08fea9a1db3b3624b3a36a2ac108703d8d3faff5281868a4da2",
        origin=_GEOM_GCN,
        splits=TEN,
        splits_hash="f7c1511718e027689512a9e04ce7140f05777aeac9ccdd6d25149a4989cd91d3",
        source=upstream.geom_gcn("texas"),
    ),
    Dataset(
        name="film",
        variant=(
            "Geom-GCN's Film (Actor), as in the paper; 932 features although its header"
            " says 931; duplicate edges."
        ),
        nodes=7_600,
        edges=26_659,
        features=932,
        classes=5,
        content_hash="7d1e98641f29d998b8c2d77a40c595a63bc6a7dd17a0ef25593f4f539a3040e4",
        origin=_GEOM_GCN,
        splits=TEN,
        splits_hash="b011ff97dc97daf21183fcd5e5043b1b1905e9220aa0cac2f40c10d73c8974e5",
        source=upstream.geom_gcn("film"),
    ),
    Dataset(
        name="chameleon",
        variant=(
            "The original Chameleon with duplicate nodes, as in the paper; see chameleon-filtered."
        ),
        nodes=2_277,
        edges=31_371,
        features=2_325,
        classes=5,
        content_hash="9e347f444e8589b4782c1f5f52e4d317a8bc2ba2f399ff2a511791ec1704e869",
        origin=_GEOM_GCN,
        splits=TEN,
        splits_hash="95febd9144c33782bbad4b72dafa48d9a0fa5483989c08ddaefe743e138cf0f0",
        source=upstream.geom_gcn("chameleon"),
    ),
    Dataset(
        name="squirrel",
        variant="The original Squirrel with duplicate nodes, as in the paper.",
        nodes=5_201,
        edges=198_353,
        features=2_089,
        classes=5,
        content_hash="db1aeb2b6e96a62ddf63d524a999628ec6e4ddfd39f99272a34cce55b4ae317b",
        origin=_GEOM_GCN,
        splits=TEN,
        splits_hash="3da141fe48d29ff4eaeefbf28eb41ae4670e36245d367b85a4dc7cfc93753ece",
        source=upstream.geom_gcn("squirrel"),
    ),
    Dataset(
        name="deezer-europe",
        variant="SNAP's Deezer Europe with the five splits of Lim et al., as in the paper.",
        nodes=28_281,
        edges=92_752,
        features=31_241,
        classes=2,
        content_hash="5fe08d7eb9aeb95ba3329d14bd8f2f4e57e7bfdf53241e396b1fe26c69aabe29",
        origin=_DEEZER,
        splits={"fixed": 5},
        splits_hash="a733a8ce233b0934e8b7ba2151cac3d8294472ced904dd31686e3c008654c40d",
        lists_edges_once=True,
        source=upstream.deezer(),
    ),
    Dataset(
        name="cora",
        variant=(
            "Planetoid's Cora, as in the paper; the ten splits cover the largest component only."
        ),
        nodes=2_708,
        edges=5_278,
        features=1_433,
        classes=7,
        content_hash="8ffc2ead1251e8c2a6abe33dc274648076aa351d460c852b548dd054124e31be",
        origin=_PLANETOID,
        splits=TEN_AND_PUBLIC,
        splits_hash="a196471d5fff869c505cdd4e8a08747a6f19d9ba6484f468b937a7b66a62f132",
        source=upstream.planetoid("cora"),
    ),
    Dataset(
        name="citeseer",
        variant="Planetoid's CiteSeer, as in the paper; 15 nodes have no label and no features.",
        nodes=3_327,
        edges=4_552,
        features=3_703,
        classes=6,
        content_hash="0d170e13685ae4d0f2cdd908bfd640adad98eeaab61d068638abd06ed3b4af2e",
        origin=_PLANETOID,
        splits=TEN_AND_PUBLIC,
        splits_hash="2445d8c2deb4bb609f3ca6759a3ca114b5068f9896fcc00e0b48db584e874f10",
        source=upstream.planetoid("citeseer"),
    ),
    Dataset(
        name="pubmed",
        variant="Planetoid's PubMed, as in the paper; tf-idf features.",
        nodes=19_717,
        edges=44_324,
        features=500,
        classes=3,
        content_hash="60e9b7a6a89dc8a9427c1fc3f97ddad159e36f384f3337a8c614cc10e40b66dc",
        origin=_PLANETOID,
        splits=TEN_AND_PUBLIC,
        splits_hash="c1ae5fba1c1940ce57efdbe0fb2912000dfac6518d00099ba0f6fa4517bbe7c2",
        source=upstream.planetoid("pubmed", upstream.PUBMED_SHA256),
    ),
    Dataset(
        name="cornell-corrected",
        variant=(
            "Cornell with its own features and labels (Platonov et al.), other node "
            "numbers; not the paper's cornell."
        ),
        nodes=183,
        edges=277,
        features=1_703,
        classes=5,
        content_hash="e254af144fc304d4aae4bb61adfd58f5617c06e3eadb3534aca1f128337defe7",
        origin=_YANDEX,
        splits=TEN,
        splits_hash="bcc0a3a4a5db0d384e0499a964aed58965cf39a8b365dc5c70432d451671be0b",
        lists_edges_once=True,
        source=upstream.yandex("cornell"),
    ),
    Dataset(
        name="chameleon-filtered",
        variant="Chameleon without duplicate nodes (Platonov et al.); not the paper's.",
        nodes=890,
        edges=8_854,
        features=2_325,
        classes=5,
        content_hash="79e184f9157aa11f6a71207c5db116ea06bdd5ead3175f40b2c6683410d96132",
        origin=_YANDEX,
        splits=TEN,
        splits_hash="df6481a1fb257df97424678e3fa27d8cf423bf0b3bad3424fc86ac93d239af94",
        lists_edges_once=True,
        source=upstream.yandex("chameleon_filtered"),
    ),
    Dataset(
        name="squirrel-filtered",
        variant="Squirrel without duplicate nodes (Platonov et al.); not the paper's.",
        nodes=2_223,
        edges=46_998,
        features=2_089,
        classes=5,
        content_hash="98064c2d5854b8aa53db14df996bf751c1bf3c91d0c5bd0048927b172aaec9e4",
        origin=_YANDEX,
        splits=TEN,
        splits_hash="bd0b698489a3c1fe119ac0606a79e84441e6edd585d222d6072bfb513aa751c5",
        lists_edges_once=True,
        source=upstream.yandex("squirrel_filtered"),
    ),
    Dataset(
        name="minesweeper",
        variant="Minesweeper of Platonov et al.; 20 % positive, usually scored with ROC AUC.",
        nodes=10_000,
        edges=39_402,
        features=7,
        classes=2,
        content_hash="749ef23807918b3a6c2194e7ac833ae0f0b22f98371b60f030d32b59fd321305",
        origin=_YANDEX,
        splits=TEN,
        splits_hash="015502c04c4a524bf4b304cb6b2390a87e07a176a4b14374165a7a3fe2c984a7",
        lists_edges_once=True,
        source=upstream.yandex("minesweeper"),
    ),
    Dataset(
        name="tolokers",
        variant=(
            "Tolokers of Platonov et al.: workers of a crowdsourcing platform; 22 % were banned, "
            "usually scored with ROC AUC."
        ),
        nodes=11_758,
        edges=519_000,
        features=10,
        classes=2,
        content_hash="a8f1d2508a3a3a5f175e326443732105cb6502c71f069105b9c589453279d354",
        origin=_YANDEX,
        splits=TEN,
        splits_hash="0214037e5eb484c84d170e70d490a5c85d47358e657cfdf229994f9c117aecdc",
        lists_edges_once=True,
        source=upstream.yandex("tolokers"),
    ),
    Dataset(
        name="roman-empire",
        variant=(
            "Roman-empire of Platonov et al.: words of an article, linked by order and syntax; "
            "checked by its counts alone."
        ),
        nodes=22_662,
        edges=32_927,
        features=300,
        classes=18,
        content_hash=None,
        origin=_YANDEX,
        splits=TEN,
        lists_edges_once=True,
        source=upstream.yandex("roman_empire"),
    ),
    Dataset(
        name="amazon-ratings",
        variant=(
            "Amazon-ratings of Platonov et al.: products bought together, classes of mean rating; "
            "checked by its counts alone."
        ),
        nodes=24_492,
        edges=93_050,
        features=300,
        classes=5,
        content_hash=None,
        origin=_YANDEX,
        splits=TEN,
        lists_edges_once=True,
        source=upstream.yandex("amazon_ratings"),
    ),
    Dataset(
        name="questions",
        variant=(
            "Questions of Platonov et al.: users who answered each other; 3 % positive, usually "
            "scored with ROC AUC; checked by its counts alone."
        ),
        nodes=48_921,
        edges=153_540,
        features=301,
        classes=2,
        content_hash=None,
        origin=_YANDEX,
        splits=TEN,
        lists_edges_once=True,
        source=upstream.yandex("questions"),
    ),
    Dataset(
        name="flickr",
        variant="Flickr users who follow each other, tags as features (Huang et al. 2017).",
        nodes=7_575,
        edges=239_738,
        features=12_047,
        classes=9,
        content_hash="06deeb2c2eeb355e461bedf4b8d07382d5e5a9fbe6bc8eb1527ba5f2fca7c514",
        origin=_GRAPH_DATA,
        splits=TEN,
        splits_hash="d6aef3d6147fd468696fa5aa92268e126ddc517ed783c2c78da21b685f84a256",
        drawn=10,
        source=upstream.graph_data("flickr"),
    ),
    Dataset(
        name="blogcatalog",
        variant="Bloggers of BlogCatalog, keywords as features (Huang et al. 2017).",
        nodes=5_196,
        edges=171_743,
        features=8_189,
        classes=6,
        content_hash="fdbcf4559d981708fa04adbcd3ddb1aaa8630543dc7f02f7171a08659b0b823b",
        origin=_GRAPH_DATA,
        splits=TEN,
        splits_hash="bc10ec2ad7cf462ebe6fccfe6030c82ad8f3c89d3725362ade2d5862c57d5b2d",
        drawn=10,
        source=upstream.graph_data("blogcatalog"),
    ),
    Dataset(
        name="fb100-Amherst41",
        variant="Facebook100, Amherst: gender as label, 203 nodes have none.",
        nodes=2_235,
        edges=90_954,
        features=1_193,
        classes=2,
        content_hash="6d782f53dddf22d677f3ff6d1936ae922b0f35e17af16b9ede3ea6e42bf7f62f",
        origin=_FB100,
        splits={},
        source=upstream.facebook100("Amherst41"),
    ),
    Dataset(
        name="fb100-Cornell5",
        variant="Facebook100, Cornell: gender as label, 1,838 nodes have none.",
        nodes=18_660,
        edges=790_777,
        features=4_735,
        classes=2,
        content_hash="693c40d09bf5684e4a8751da323a79ff20151a7b250bb5783cf4e6942ea7edb3",
        origin=_FB100,
        splits={},
        source=upstream.facebook100("Cornell5"),
    ),
    Dataset(
        name="davis",
        variant=(
            "Southern Women (Davis et al. 1941): women and the events they attended; "
            "the two sides are the labels, no features."
        ),
        nodes=32,
        edges=89,
        features=0,
        classes=2,
        content_hash="bfec53b16e1247b9941f1828baf63911169098c5603f505b929a1fd5236c8bc5",
        origin=_NETWORKX,
        splits={},
        embedded=EMBEDDED["davis"],
    ),
    Dataset(
        name="karate",
        variant=(
            "Karate club (Zachary 1977) without weights; the club joined is the label, no features."
        ),
        nodes=34,
        edges=78,
        features=0,
        classes=2,
        content_hash="80fe454d28af8e2f6f93dcb877a7279b3042c7520d620fe0657d431f20574d93",
        origin=_NETWORKX,
        splits={},
        embedded=EMBEDDED["karate"],
    ),
    Dataset(
        name="cora-content",
        variant=(
            "Cora in the node order of cora.content: the graph of cora, to which its "
            "fixed splits do not apply."
        ),
        nodes=2_708,
        edges=5_278,
        features=1_433,
        classes=7,
        content_hash="69087cdd12916786f676b4b7c7e7e284bd24d127c3ff009e5a43a6d04d2b1a6c",
        origin=_GDS,
        splits={},
        embedded=EMBEDDED["cora-content"],
    ),
    Dataset(
        name="imdb",
        variant=(
            "IMDB movies that have a genre, linked by a shared actor; plot keywords as features."
        ),
        nodes=2_939,
        edges=19_736,
        features=1_256,
        classes=3,
        content_hash="a53423efdf5b0fdf8ff83fc7bb13188bd6989da9f6ce517dd0bc4682efe488cb",
        origin=_GDS,
        splits={},
        embedded=EMBEDDED["imdb"],
    ),
)

DATASETS: Mapping[str, Dataset] = {dataset.name: dataset for dataset in _TABLE}

"""t-SNE maps of sampled nodes; the nearest node is named when one hovers."""

from __future__ import annotations

from collections import Counter
from typing import Any

from heterophily.page.document import COLOURS
from heterophily.page.svg import clouds, colour, legend, picture
from heterophily.page.text import data_script, printable, safe

_SIDE, _EDGE = 264, 8
_OTHERS = "other classes"


def maps_part(found: dict[str, Any]) -> str:
    """Draw the maps; the seven largest classes have colours of their own."""
    labels, names = found["labels"], found["classes"]
    sizes = Counter(label for label in labels if label >= 0)
    few = len(sizes) <= COLOURS
    shown = sorted(k for k, _ in sizes.most_common(COLOURS if few else COLOURS - 2))
    place = {label: number for number, label in enumerate(shown)}
    others = COLOURS - 2  # grey
    keys, kinds = [str(names[k])[:60] for k in shown], [colour(k) for k in range(len(shown))]
    if len(shown) < len(sizes) or -1 in labels:
        keys, kinds = [*keys, _OTHERS], [*kinds, colour(others)]
    pictures, scripts = [], [_nodes(found)]
    for number, (title, panel) in enumerate(found["maps"].items()):
        x = [round(_EDGE + (_SIDE - 2 * _EDGE) * value / 1000, 1) for value in panel["x"]]
        y = [round(_EDGE + (_SIDE - 2 * _EDGE) * (1 - value / 1000), 1) for value in panel["y"]]
        groups: dict[str, list[tuple[float, float]]] = {}
        for label, *at in zip(labels, x, y, strict=True):
            kind = colour(place.get(label, others))
            groups.setdefault(kind, []).append((at[0], at[1]))
        dots = clouds(groups)
        frame = f"<rect class='grid' x='.5' y='.5' width='{_SIDE - 1}' height='{_SIDE - 1}'/>"
        drawn = picture(
            _SIDE,
            _SIDE,
            frame + dots,
            f"t-SNE map of {title}, nodes coloured by class",
            attributes=f" data-points='map-{number}' data-nodes='map-nodes'",
        )
        pictures.append(
            f"<figure>{drawn}<figcaption>{safe(title)}</figcaption>"
            "<p class='hover' aria-live='polite'></p></figure>"
        )
        points = {"x": x, "y": y}
        if panel.get("predicted") is not None:
            points["predicted"] = panel["predicted"]
        scripts.append(data_script(f"map-{number}", points))
    count, total = len(labels), found["nodes"]
    said = (
        f"A random sample of {count:,} of the {total:,} nodes."
        if count < total
        else f"All {total:,} nodes."
    )
    missing = "".join(
        f"<p class='dim'>Not drawn: {safe(title)}: {safe(why)}.</p>"
        for title, why in found.get("reasons", {}).items()
    )
    return (
        f"{legend(keys, kinds)}<div class='side'>{''.join(pictures)}</div>{missing}"
        f"<p class='dim small'>{said} t-SNE keeps neighbours together; distances between groups "
        "mean little. Hover a point for its node.</p>" + "".join(scripts)
    )


def _nodes(found: dict[str, Any]) -> str:
    """Return what hovering tells: ids and classes, cleaned of control characters."""
    return data_script(
        "map-nodes",
        {
            "ids": [printable(str(node))[:24] for node in found["ids"]],
            "labels": found["labels"],
            "names": [printable(str(name))[:60] for name in found["classes"]],
        },
    )

"""The files of a Linked Data Event Stream: their names, what they say, and what they said.

The IRIs of the stream, its members and its own properties are fragments of the root. Blank nodes
are such IRIs, too: a label would be another node in each file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Final

import pyoxigraph

from weir.lake.instants import time_text

_LDES, _TREE = "https://w3id.org/ldes#", "https://w3id.org/tree#"
_DCT, _AS = "http://purl.org/dc/terms/", "https://www.w3.org/ns/activitystreams#"
_RDFS, _SH = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/ns/shacl#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_PREFIXES: Final = {
    "as": _AS,
    "dct": _DCT,
    "ldes": _LDES,
    "rdfs": _RDFS,
    "sh": _SH,
    "tree": _TREE,
    "xsd": _XSD,
}
_ITEMS = f"{_TREE}remainingItems"
_ROW, _MEMBER = "row-", "member-"
_ANYWHERE = "http://weir.invalid/"
"""Where relative IRIs are read; none of them is kept."""


@dataclass(frozen=True, slots=True)
class Names:
    """The files and IRIs of a stream.

    Attributes:
        base: IRI of the folder, with a slash at its end; empty if IRIs are relative to the files.
        is_graph: whether rows are triples: then they are in named graphs, which Turtle has not.
    """

    base: str
    is_graph: bool

    @property
    def ending(self) -> str:
        """Of all files."""
        return ".trig" if self.is_graph else ".ttl"

    @property
    def format(self) -> pyoxigraph.RdfFormat:
        """Of all files."""
        return pyoxigraph.RdfFormat.TRIG if self.is_graph else pyoxigraph.RdfFormat.TURTLE

    @property
    def root(self) -> str:
        """The file with which a reader begins."""
        return f"index{self.ending}"

    def file(self, level: int, number: int) -> str:
        """The file of a page, or of a node of links at a level from 1; numbers are from 1."""
        return f"{f'node{level}-' if level else ''}{number:012}{self.ending}"

    @property
    def files(self) -> re.Pattern[str]:
        """The names of all files, with level and number."""
        return re.compile(rf"(?:(?:node(\d+)-)?([0-9]{{12}})|index){re.escape(self.ending)}")

    def place_of(self, file: str) -> tuple[int, int] | None:
        """The level and number of a file; None for the root, and for files of others."""
        name = self.files.fullmatch(file)
        return None if name is None or name[2] is None else (int(name[1] or 0), int(name[2]))

    def numbers_in(self, folder: Path) -> list[int]:
        """The numbers of the pages that a folder has, in order."""
        places = map(self.place_of, (file.name for file in folder.iterdir()))
        return sorted(place[1] for place in places if place is not None and place[0] == 0)

    def iri(self, file: str) -> str:
        """The IRI of a file, in brackets."""
        return f"<{self.base}{file}>"

    @property
    def head(self) -> str:
        """The prefixes of a file."""
        prefixes = {**_PREFIXES, "own": f"{self.base}{self.root}#"}
        return "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in prefixes.items())

    def term(self, term: str) -> str:
        """A term of N-Triples as it is written."""
        if term.startswith("_:"):
            return f"<{self.base}{self.root}#node-{term.removeprefix('_:')}>"
        return term

    def quads(self, content: bytes) -> Iterator[pyoxigraph.Quad]:
        """What a file says, but for triples in named graphs."""
        base = self.base or _ANYWHERE
        quads = pyoxigraph.parse(content, self.format, base_iri=base, lenient=True)
        default = pyoxigraph.DefaultGraph()
        return (quad for quad in quads if quad.graph_name == default)

    def own(self, name: str) -> str:
        """An IRI of the stream as `quads` gives it."""
        return f"{self.base or _ANYWHERE}{self.root}#{name}"


@dataclass(frozen=True, slots=True)
class Member:
    """A version of a row in a stream.

    Attributes:
        number: among the members, from 1.
        epoch: at which the row changed.
        key: of the row.
        times: how often the answer has the row; 0 if it is gone.
        created: when the epoch was ingested; never earlier than that of the member before.
    """

    number: int
    epoch: int
    key: str
    times: int
    created: datetime


@dataclass(frozen=True, slots=True)
class Page:
    """A page, as far as it is written.

    Attributes:
        number: from 1.
        members: in order.
        body: what is said of them.
    """

    number: int
    members: tuple[Member, ...] = ()
    body: str = ""

    def link(self, full: int) -> Link:
        """What is said of it; `full`: how many members a page has that never changes again."""
        first, last, number = self.members[0], self.members[-1], len(self.members)
        return Link(0, self.number, number, first.created, last.created, number >= full)


@dataclass(frozen=True, slots=True)
class Link:
    """What is said of a page, or of a node with links to such.

    Attributes:
        level: 0 for a page; of a node that of what it links to, plus 1.
        number: among those of the level, from 1.
        members: how many can be reached.
        since: when the first of them was created.
        until: when the last was; later ones may come if it is not full.
        is_full: whether it never changes again.
    """

    level: int
    number: int
    members: int
    since: datetime
    until: datetime
    is_full: bool


@dataclass(frozen=True, slots=True)
class Root:
    """What the root of a stream says.

    Attributes:
        links: to nodes and pages, in the order of their members.
        members: how many members the stream has.
        epoch: up to which it is complete.
    """

    links: tuple[Link, ...] = ()
    members: int = 0
    epoch: int = 0


def rolled_up(
    links: Sequence[Link], most: int
) -> tuple[tuple[Link, ...], list[tuple[Link, tuple[Link, ...]]]]:
    """Links of which those of a level are fewer than `most` full ones, and the nodes for the rest.

    Args:
        links: in the order of their members, those of higher levels first.
        most: so many full ones of a level are in a node.

    Returns:
        The links of the root; and each new node with its links.
    """
    left, nodes, level = [*links], list[tuple[Link, tuple[Link, ...]]](), 0
    while any(link.level >= level for link in left):
        full = [link for link in left if link.level == level and link.is_full]
        while len(full) >= most:
            own, full = tuple(full[:most]), full[most:]
            first, last = own[0], own[-1]
            number = (first.number - 1) // most + 1
            members = sum(link.members for link in own)
            node = Link(level + 1, number, members, first.since, last.until, True)
            left[left.index(first) : left.index(last) + 1] = [node]
            nodes.append((node, own))
        level += 1
    return tuple(left), nodes


def page_text(names: Names, source: str, page: Page, *, is_full: bool) -> str:
    """A page; its members follow an empty line.

    Args:
        names: of the stream.
        source: the IRI of the log of the answer.
        page: what it has.
        is_full: whether it never changes again.
    """
    full = " ; ldes:immutable true" if is_full else ""
    return (
        f"{names.head}own:stream a ldes:EventStream ; dct:source <{source}> .\n"
        f"{names.iri(names.file(0, page.number))} a tree:Node{full} .\n\n{page.body}"
    )


def member_text(
    names: Names,
    member: Member,
    before: int,
    row: Mapping[str, str],
    happened: datetime | None,
) -> str:
    """What is said of a member.

    Args:
        names: of the stream.
        member: the member.
        before: how often the answer had the row before it.
        row: the terms of its bound variables.
        happened: when the change happened.
    """
    own, stands = f"own:{_MEMBER}{member.number}", member.times > 0
    kind = "Delete" if not stands else "Update" if before > 0 else "Create"
    said = [
        f"a as:{kind}",
        f"dct:isVersionOf own:{_ROW}{member.key}",
        f"dct:created {_time(member.created)}",
        *([f"as:startTime {_time(happened)}"] if happened is not None else []),
        f"own:number {member.number}",
        f"own:epoch {member.epoch}",
        *([f"own:multiplicity {member.times}"] if member.times > 1 else []),
    ]
    triple = ""
    if stands and names.is_graph:
        triple = f"{own} {{ {' '.join(map(names.term, row.values()))} . }}\n"
    elif stands:
        said += [f"own:column-{name} {names.term(term)}" for name, term in row.items()]
    return f"own:stream tree:member {own} .\n{own} {_joined(said)} .\n{triple}"


def node_text(names: Names, source: str, node: Link, links: Iterable[Link]) -> str:
    """A node that links to full pages or nodes: it never changes again."""
    relations = [relation for link in links for relation in _relations(names, link)]
    said = ["a tree:Node", "ldes:immutable true", f"tree:relation {_listed(relations)}"]
    return (
        f"{names.head}own:stream a ldes:EventStream ; dct:source <{source}> .\n"
        f"{names.iri(names.file(node.level, node.number))} {_joined(said)} .\n"
    )


def root_text(names: Names, source: str, title: str, variables: Sequence[str], root: Root) -> str:
    """The root: what the stream is, and where its pages are.

    Args:
        names: of the stream.
        source: the IRI of the log of the answer.
        title: of the stream.
        variables: the columns of rows.
        root: what it says.
    """
    links = root.links
    paths = [
        "[ sh:path dct:isVersionOf ; sh:minCount 1 ; sh:maxCount 1 ; sh:nodeKind sh:IRI ]",
        "[ sh:path dct:created ; sh:minCount 1 ; sh:maxCount 1 ; sh:datatype xsd:dateTime ]",
        *(
            f"[ sh:path own:column-{name} ; sh:maxCount 1 ]"
            for name in variables
            if not names.is_graph
        ),
    ]
    relations = [relation for link in links for relation in _relations(names, link)]
    kept = f" ; ldes:startingFrom {_time(links[0].since)}" if links else ""
    node = ["a tree:Node", "ldes:retentionPolicy own:retention"]
    node += [f"tree:relation {_listed(relations)}"] if relations else []
    return (
        f"{names.head}\nown:stream a ldes:EventStream ;\n"
        f"    dct:title {_text(title)} ;\n"
        f"    dct:source <{source}> ;\n"
        f"    tree:view {names.iri(names.root)} ;\n"
        "    tree:shape own:shape ;\n"
        f"    own:number {root.members} ;\n"
        f"    own:epoch {root.epoch} ;\n"
        "    ldes:timestampPath dct:created ;\n"
        "    ldes:sequencePath own:number ;\n"
        "    ldes:versionOfPath dct:isVersionOf ;\n"
        "    ldes:versionCreateObject as:Create ;\n"
        "    ldes:versionUpdateObject as:Update ;\n"
        "    ldes:versionDeleteObject as:Delete .\n"
        f"own:shape a sh:NodeShape ;\n    sh:property {_listed(paths)} .\n"
        f"own:retention a ldes:RetentionPolicy{kept} ;\n"
        f"    rdfs:comment {_text('All members are kept.')} .\n"
        f"{names.iri(names.root)} {_joined(node)} .\n"
    )


def _relations(names: Names, link: Link) -> Iterator[str]:
    file = names.iri(names.file(link.level, link.number))
    page = f"tree:node {file} ; tree:path dct:created"
    yield (
        f"[ a tree:GreaterThanOrEqualToRelation ; {page} ; tree:value {_time(link.since)}"
        f" ; tree:remainingItems {link.members} ]"
    )
    # The last page gets members that are created later.
    if link.is_full:
        yield f"[ a tree:LessThanOrEqualToRelation ; {page} ; tree:value {_time(link.until)} ]"


def _joined(said: Sequence[str]) -> str:
    return " ;\n    ".join(said)


def _listed(nodes: Sequence[str]) -> str:
    return " ,\n        ".join(nodes)


def _time(time: datetime) -> str:
    return f'"{time_text(time)}"^^xsd:dateTime'


def _text(text: str) -> str:
    return str(pyoxigraph.Literal(text))


def read_page(names: Names, number: int, content: bytes) -> tuple[Page, str]:
    """A page that was written, and the IRI of the log that it is of; empty if it has none.

    Raises:
        ValueError: it is no such page.
    """
    source, members = "", list[Member]()
    for subject, own in groupby(names.quads(content), key=lambda quad: _value(quad.subject)):
        said = {_value(quad.predicate): _value(quad.object) for quad in own}
        if subject == names.own("stream"):
            source = said.get(f"{_DCT}source", source)
        elif subject.startswith(names.own(_MEMBER)):
            members.append(_member(names, said))
    return Page(number, tuple(members), content.decode().partition("\n\n")[2]), source


def _member(names: Names, said: Mapping[str, str]) -> Member:
    is_gone = said[f"{_RDF}type"] == f"{_AS}Delete"
    return Member(
        int(said[names.own("number")]),
        int(said[names.own("epoch")]),
        said[f"{_DCT}isVersionOf"].removeprefix(names.own(_ROW)),
        0 if is_gone else int(said.get(names.own("multiplicity"), "1")),
        datetime.fromisoformat(said[f"{_DCT}created"]),
    )


def _value(term: object) -> str:
    """The IRI, label or lexical form of a term; empty for a quoted triple."""
    return str(getattr(term, "value", ""))


def read_root(names: Names, content: bytes) -> Root:
    """What a root that was written says; when its last page ends is not known of it."""
    nodes: dict[str, dict[str, str]] = {}
    for quad in names.quads(content):
        nodes.setdefault(_value(quad.subject), {})[_value(quad.predicate)] = _value(quad.object)
    places: dict[tuple[int, int], dict[str, str]] = {}
    for said in nodes.values():
        place = names.place_of(said.get(f"{_TREE}node", "").rpartition("/")[2])
        if place is not None:
            own, members = places.setdefault(place, {}), said.get(_ITEMS)
            own |= {"since" if members else "until": said[f"{_TREE}value"]}
            own |= {"members": members} if members else {}
    links = (_link(*place, said) for place, said in places.items())
    ordered = sorted(links, key=lambda link: (-link.level, link.number))
    stream = nodes[names.own("stream")]
    return Root(tuple(ordered), int(stream[names.own("number")]), int(stream[names.own("epoch")]))


def _link(level: int, number: int, said: Mapping[str, str]) -> Link:
    since = datetime.fromisoformat(said["since"])
    until = datetime.fromisoformat(said.get("until", said["since"]))
    return Link(level, number, int(said["members"]), since, until, "until" in said)

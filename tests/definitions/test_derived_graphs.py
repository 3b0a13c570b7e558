"""Which definition gives the graph that another one reads, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.catalogs import catalog_of
from weir.definitions.catalog import Catalog
from weir.definitions.kinds import PROGRAM, QUERY
from weir.definitions.upstreams import all_upstreams_of, levels
from weir.errors import ConfigurationError
from weir.plan.scope import Scope

GIVES = "#+ graph: urn:d:{}\n"
COPY = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"


def catalog(folder: Path, **texts: str) -> Catalog:
    for name, text in texts.items():
        (folder / f"{name}.rq").write_text(text)
    return catalog_of(folder)


def refused(folder: Path, name: str = "a", **texts: str) -> ConfigurationError:
    return catalog(folder, **texts).errors[name]


def test_a_reader_is_maintained_after_what_it_reads(tmp_path: Path) -> None:
    declared = catalog(
        tmp_path,
        a=f"#+ reads: [b]\n{COPY}",
        b=GIVES.format("b") + "#+ reads: [c]\n" + COPY,
        c=GIVES.format("c") + COPY,
        d="SELECT * FROM <urn:d:b> { ?s ?p ?o }",
    )
    assert all_upstreams_of(declared.member("a")) == ("b", "c")
    named = [[one.name for one in level] for level in levels(declared.members)]
    assert named == [["c"], ["b"], ["a", "d"]]


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("SELECT * FROM <urn:d:up> { ?s ?p ?o }", Scope((), derived=("up",))),
        ("SELECT * FROM <urn:d:up> FROM <u:g> { ?s ?p ?o }", Scope(("<u:g>",), derived=("up",))),
        ("SELECT * { GRAPH <urn:d:up> { ?s ?p ?o } }", Scope((), derived=("up",))),
        (
            "SELECT * FROM NAMED <urn:d:up> { GRAPH <urn:d:up> { ?s ?p ?o } }",
            Scope((), derived=("up",)),
        ),
        ("#+ reads: [up]\nSELECT * { ?s ?p ?o }", Scope(derived=("up",))),
        ("#+ reads: [up]\nSELECT * FROM <u:g> { ?s ?p ?o }", Scope(("<u:g>",), derived=("up",))),
        (
            "#+ reads: [up]\n#+ default_graph: default\nASK { ?s ?p ?o }",
            Scope(("",), derived=("up",)),
        ),
        ("SELECT * { GRAPH ?g { ?s ?p ?o } }", Scope(each=True)),
        ("SELECT * FROM <urn:d:other> { ?s ?p ?o }", Scope(("<urn:d:other>",))),
    ],
)
def test_patterns_read_the_derived_graphs_that_a_query_names(
    tmp_path: Path, text: str, scope: Scope
) -> None:
    declared = catalog(tmp_path, up=GIVES.format("up") + COPY, reader=text)
    body = declared.member("reader").body
    assert {seed.scope for seed in body.seeds} == {scope}
    assert {component.scope for component in body.components} == {scope}


def test_that_a_graph_becomes_a_derived_one_is_an_edit(tmp_path: Path) -> None:
    text = "SELECT * FROM <urn:d:up> { ?s ?p ?o }"
    plain = catalog(tmp_path, reader=text, up=COPY).member("reader").fingerprint
    (tmp_path / "up.rq").write_text(GIVES.format("up") + COPY)
    assert catalog_of(tmp_path).member("reader").fingerprint != plain


def test_queries_that_read_each_others_graphs_in_a_circle_are_refused_with_their_files(
    tmp_path: Path,
) -> None:
    declared = catalog(
        tmp_path,
        a=GIVES.format("a") + "#+ reads: [b]\n" + COPY,
        b=GIVES.format("b") + COPY.replace("WHERE", "FROM <urn:d:a> WHERE"),
    )
    assert {*declared.errors} == {"a", "b"}
    error = declared.errors["a"]
    assert error.what == "queries read each other's graphs in a circle: a -> b -> a"
    assert f"{tmp_path.name}/a.rq, {tmp_path.name}/b.rq" in error.hint


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("SELECT * { ?s ?p ?o }", 1, "graph is for CONSTRUCT queries"),
        ("CONSTRUCT { ?s ?p [] } WHERE { ?s ?p ?o }", 1, "has no blank nodes of a template"),
    ],
)
def test_a_derived_graph_has_the_triples_of_a_template_without_blank_nodes(
    tmp_path: Path, text: str, line: int, what: str
) -> None:
    error = refused(tmp_path, a=GIVES.format("a") + text)
    assert what in error.what
    assert error.where.endswith(f"a.rq:{line}")


@pytest.mark.parametrize("iri", ["not an iri", "urn:weir:graph:x", "<urn:weir:web:x>"])
def test_the_name_of_a_derived_graph_is_an_iri_of_ones_own(tmp_path: Path, iri: str) -> None:
    error = refused(tmp_path, a=f"#+ description: x\n#+ graph: {iri}\n{COPY}")
    assert error.what.startswith("graph: ")
    assert error.where.endswith("a.rq:2")


def test_a_graph_has_one_giver(tmp_path: Path) -> None:
    declared = catalog(
        tmp_path,
        a=GIVES.format("x") + COPY,
        b=GIVES.format("x") + COPY,
        c="SELECT * FROM <urn:d:x> { ?s ?p ?o }",
    )
    assert declared.errors["a"].what == "b.rq gives the graph <urn:d:x> too"
    assert declared.errors["a"].where.endswith("a.rq:1")
    assert declared.errors["c"].what == "a.rq and b.rq give the graph <urn:d:x>, which it reads"


def test_a_name_without_a_graph_cannot_be_read(tmp_path: Path) -> None:
    texts = {"b": COPY, "upper": GIVES.format("u") + COPY}
    error = refused(tmp_path, a=f"#+ description: x\n#+ reads: [uper]\n{COPY}", **texts)
    assert error.what == "there is no derived graph uper: there is no such definition"
    assert error.where.endswith("a.rq:2")
    assert "upper" in error.hint
    error = refused(tmp_path, a=f"#+ reads: [b]\n{COPY}")
    assert error.what == "there is no derived graph b: b.rq gives none"


def test_a_reader_of_what_has_an_error_has_one(tmp_path: Path) -> None:
    declared = catalog(
        tmp_path,
        a="#+ reads: [b]\n" + COPY,
        b=GIVES.format("b") + "#+ reads: [c]\n" + COPY,
    )
    assert declared.errors["a"].what.startswith("the query b, whose graph it reads, has an error")


@pytest.mark.parametrize(
    "reader",
    [
        "#+ reads: [up]\n" + COPY,
        "SELECT * FROM <urn:d:up> { ?s ?p ?o }",
        "SELECT * { GRAPH <urn:d:up> { ?s ?p ?o } }",
    ],
)
@pytest.mark.parametrize("mistake", ["#+ no_key: 1\n", ""])
def test_a_graph_that_a_file_with_a_mistake_gives_is_not_taken_for_one_of_the_data(
    tmp_path: Path, reader: str, mistake: str
) -> None:
    wrong = GIVES.format("up") + mistake + COPY.replace("?o }", "?o", 1)
    error = refused(tmp_path, a=reader, up=wrong)
    assert error.what.startswith("the query up, whose graph it reads, has an error: ")
    assert error.hint == "Correct up first."


def test_a_variable_does_not_stand_for_derived_graphs(tmp_path: Path) -> None:
    text = "SELECT * FROM NAMED <urn:d:up> { GRAPH ?g { ?s ?p ?o } }"
    error = refused(tmp_path, a=text, up=GIVES.format("up") + COPY)
    assert error.what == "GRAPH with a variable does not read the derived graph <urn:d:up>"


_WINDOW = (
    "REGISTER STREAM s AS CONSTRUCT ISTREAM { ?s ?p ?o }\n"
    "FROM NAMED WINDOW w ON readings [RANGE PT10S STEP PT10S]\n"
    "WHERE { WINDOW w { ?s ?p ?o } }\n"
)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (GIVES.format("a") + _WINDOW, "graph is for queries without windows"),
        ("#+ entailment: up\n" + _WINDOW, "`reads` names derived graphs"),
        ("#+ reads: [up]\n" + _WINDOW, "reads is about patterns outside of GRAPH"),
    ],
)
def test_queries_over_streams_give_no_derived_graphs_and_nothing_follows_from_streams(
    tmp_path: Path, text: str, what: str
) -> None:
    assert what in refused(tmp_path, a=text, up=GIVES.format("up") + COPY).what


def test_what_a_stream_follows_from_is_upstream_of_its_readers_too(tmp_path: Path) -> None:
    own = _WINDOW.replace("} }", "} GRAPH <urn:d:up> { ?s ?q ?x } }")
    reader = (
        "SELECT * FROM NAMED WINDOW v ON s [RANGE PT10S STEP PT10S] WHERE { WINDOW v { ?a ?b ?c } }"
    )
    texts = {"a": reader, "b": own, "up": GIVES.format("up") + COPY}
    assert {*all_upstreams_of(catalog(tmp_path, **texts).member("a"))} == {"b", "up"}


def test_rule_sets_are_no_names_of_graphs_that_are_read(tmp_path: Path) -> None:
    error = refused(tmp_path, a="#+ reads: [owl-rl]\nSELECT * { ?s ?p ?o }")
    assert "write names of definitions" in error.what


@pytest.mark.parametrize(
    "text",
    [
        "#+ reads: [up]\n" + _WINDOW.replace("} }", "} ?s ?q ?x }"),
        _WINDOW.replace("} }", "} GRAPH <urn:d:up> { ?s ?q ?x } }"),
        _WINDOW.replace("FROM", "FROM <urn:d:up> FROM").replace("} }", "} ?s ?q ?x }"),
    ],
)
def test_queries_over_streams_read_derived_graphs_outside_of_windows(
    tmp_path: Path, text: str
) -> None:
    member = catalog(tmp_path, a=text, up=GIVES.format("up") + COPY).member("a")
    assert (member.upstreams, member.logs[-1]) == (("up",), "derived/up")


_OWL = "%+ graph: urn:d:owl\n%+ rules: owl-rl\n"
_FOLLOWS = "#+ entailment: {}\nSELECT * {{ ?s ?p ?o }}"


def with_programs(folder: Path, programs: dict[str, str], **queries: str) -> Catalog:
    for kind, texts in (("queries", queries), ("programs", programs)):
        (folder / kind).mkdir(exist_ok=True)
        for name, text in texts.items():
            suffix = "rq" if kind == "queries" else "lars"
            (folder / kind / f"{name}.{suffix}").write_text(text)
    return Catalog.of_folders({QUERY: folder / "queries", PROGRAM: folder / "programs"})


@pytest.mark.parametrize("entailment", ["owl-rl", "owl"])
def test_entailment_by_rules_reads_the_graph_of_the_program_that_has_them(
    tmp_path: Path, entailment: str
) -> None:
    declared = with_programs(tmp_path, {"owl": _OWL}, a=_FOLLOWS.format(entailment))
    assert {seed.scope for seed in declared.member("a").body.seeds} == {Scope(derived=("owl",))}
    assert declared.member("a").upstreams == ("owl",)


def test_entailment_by_rules_that_no_program_has_says_what_to_write(tmp_path: Path) -> None:
    error = with_programs(tmp_path, {}, a=_FOLLOWS.format("owl-rl")).errors["a"]
    assert error.what.startswith("entailment: no program has `rules: owl-rl`")
    assert error.where.endswith("a.rq:1")
    assert error.hint.startswith("Write programs/owl_rl.lars with two lines")


def test_entailment_by_rules_of_a_program_with_a_mistake_names_it(tmp_path: Path) -> None:
    programs = {"owl": _OWL + "%+ no_key: 1\n"}
    error = with_programs(tmp_path, programs, a=_FOLLOWS.format("owl-rl")).errors["a"]
    assert error.what.startswith("the query owl, whose graph it reads, has an error: unknown key")


def test_entailment_by_rules_that_two_programs_have_names_both(tmp_path: Path) -> None:
    other = _OWL.replace("d:owl", "d:other")
    programs = {"owl": _OWL, "other": other}
    error = with_programs(tmp_path, programs, a=_FOLLOWS.format("owl-rl")).errors["a"]
    assert error.what == "entailment: other.lars and owl.lars both have `rules: owl-rl`"
    assert error.hint == "Write the name of one: entailment: other."


def test_entailment_by_a_name_that_nothing_gives_has_its_line(tmp_path: Path) -> None:
    text = f"#+ description: x\n{_FOLLOWS.format('clsure')}"
    error = refused(tmp_path, a=text, closure=GIVES.format("c") + COPY)
    assert error.what == "there is no derived graph clsure: there is no such definition"
    assert error.where.endswith("a.rq:2")
    assert "closure" in error.hint


@pytest.mark.parametrize(
    ("head", "text"),
    [
        ("", "SELECT * FROM <u:g> { ?s ?p ?o }"),
        ("#+ default_graph: default\n", "SELECT * { ?s ?p ?o }"),
    ],
)
def test_what_follows_by_rules_follows_from_the_graphs_that_are_read(
    tmp_path: Path, head: str, text: str
) -> None:
    query = head + "#+ entailment: owl-rl\n" + text
    error = with_programs(tmp_path, {"owl": _OWL}, a=query).errors["a"]
    assert error.what.endswith("owl.lars derives what follows from the union of all graphs")
    assert error.where.endswith(f"a.rq:{head.count(chr(10)) + 1}")
    assert "reads: [owl]" in error.hint


def test_an_unnamed_graph_has_what_follows_from_it_by_rules(tmp_path: Path) -> None:
    head = "#+ default_graph: default\n"
    programs = {"owl": _OWL + head.replace("#", "%")}
    declared = with_programs(tmp_path, programs, a=head + _FOLLOWS.format("owl-rl"))
    assert declared.member("a").upstreams == ("owl",)


@pytest.mark.parametrize("key", ["reads: [owl]", "reads: [nothing]", "entailment: owl-rl"])
@pytest.mark.parametrize("graph", ["?g", "<u:g>"])
def test_derived_graphs_that_no_pattern_reads_are_refused(
    tmp_path: Path, key: str, graph: str
) -> None:
    text = f"#+ description: x\n#+ {key}\nSELECT * {{ GRAPH {graph} {{ ?s ?p ?o }} }}"
    error = with_programs(tmp_path, {"owl": _OWL}, a=text).errors["a"]
    assert error.what.endswith("is about patterns outside of GRAPH, and the answer depends on none")
    assert error.where.endswith("a.rq:2")


@pytest.mark.parametrize(("written", "meant"), [("rdfss", "rdfs"), ("owlrl", "owl-rl")])
def test_a_misspelt_entailment_is_hinted_at(tmp_path: Path, written: str, meant: str) -> None:
    assert f"Did you mean {meant}?" in refused(tmp_path, a=_FOLLOWS.format(written)).hint


def test_a_program_over_streams_without_atoms_of_the_graph_reads_no_derived_one(
    tmp_path: Path,
) -> None:
    head = '%+ stream: readings\n%+ reads: [up]\n%+ prefixes: {"": "urn:"}\n'
    declared = with_programs(
        tmp_path, {"a": f"{head}p(X) <- q(X).\n"}, up=GIVES.format("up") + COPY
    )
    what = "reads is about atoms of the graph, and the rules read none"
    assert declared.errors["a"].what == what

"""Questions and answers: exact for any block, and equal answers are equal."""

from __future__ import annotations

import random
from collections import Counter

import pyoxigraph as ox
import pytest

from weir.remotes.questions import Block, ForeignAnswer, Key, Solution, answers_by_key, question
from weir.sparql.algebra.services import pattern_id
from weir.sparql.frontend.translate import translate

BLOCKS = (
    "?x <u:p> ?y",
    "?x <u:p> ?y OPTIONAL { ?y <u:q> ?z }",
    "{ ?x <u:p> ?y } UNION { ?x <u:q> ?z }",
    "SELECT ?x (COUNT(*) AS ?n) { ?x <u:p> ?y } GROUP BY ?x",
    "?x <u:p> ?y MINUS { ?y <u:q> ?x }",
    "?x <u:p> ?y FILTER NOT EXISTS { ?y <u:q> ?y }",
    "SELECT DISTINCT ?x ?y { ?x (<u:p>|<u:q>)+ ?y }",
    "?x <u:p> ?y . ?w <u:q> ?x",
)
NODES = ("<u:a>", "<u:b>", "<u:c>", "<u:d>", '"1"', '"l"@en')


def block_of(text: str) -> Block:
    (asked,) = translate(f"SELECT * {{ VALUES ?x {{ <u:a> }} SERVICE <u:r> {{ {text} }} }}").asked
    service = asked.service
    return Block(
        service.remote,
        pattern_id(service),
        service.block,
        service.variables,
        service.certain,
        service.key,
    )


def solutions(store: ox.Store, query: str) -> list[dict[str, str]]:
    result = store.query(query)
    assert isinstance(result, ox.QuerySolutions)
    names = [variable.value for variable in result.variables]
    return [{n: str(row[n]) for n in names if row[n] is not None} for row in result]


@pytest.mark.parametrize("text", BLOCKS)
def test_a_question_gives_the_mappings_of_the_block_with_its_keys(text: str) -> None:
    block = block_of(text)
    assert block.key == ("x",)
    for seed in range(30):
        rng = random.Random(f"{text} {seed}")
        store = ox.Store()
        for _ in range(rng.randint(0, 14)):
            s, p, o = rng.choice(NODES[:4]), rng.choice(("<u:p>", "<u:q>")), rng.choice(NODES)
            store.update(f"INSERT DATA {{ {s} {p} {o} }}")
        keys: list[Key] = [(node,) for node in rng.sample(NODES, rng.randint(1, 4))]
        answers = answers_by_key(block, keys, solutions(store, question(block, keys, 1000)))
        everything = solutions(store, f"SELECT * {{ {{ {block.text} }} }}")
        for key in keys:
            expected = Counter(
                tuple(sorted(solution.items()))
                for solution in everything
                if solution["x"] == key[0]
            )
            assert answers[key].rows == dict(expected)


def test_a_block_without_a_key_is_asked_for_as_a_whole() -> None:
    block = Block("<u:r>", "i", "<u:a> <u:p> <u:b>", (), frozenset(), ())
    assert question(block, [()], 5) == "SELECT * WHERE { { <u:a> <u:p> <u:b> } } LIMIT 6"
    assert answers_by_key(block, [()], [{}, {}])[()].rows == {(): 2}


def test_one_mapping_more_than_is_wanted_is_asked_for() -> None:
    block = block_of("?x <u:p> ?y")
    assert question(block, [("<u:a>",), ('"b"',)], 9) == (
        'SELECT ?x ?y WHERE { VALUES (?x) { (<u:a>) ("b") } { ?x <u:p> ?y } } LIMIT 10'
    )


@pytest.mark.parametrize(
    ("solution", "message"),
    [
        ({"x": "<u:z>", "y": "<u:b>"}, "<u:z>, which was not asked for"),
        ({"x": "<u:a>"}, "leaves ?y unbound"),
        ({"x": "<u:a>", "y": "<u:b>", "w": "<u:b>"}, "binds ?w"),
        ({"y": "<u:b>"}, "leaves ?x unbound"),
    ],
)
def test_an_answer_to_another_question_is_not_believed(solution: Solution, message: str) -> None:
    with pytest.raises(ForeignAnswer) as caught:
        answers_by_key(block_of("?x <u:p> ?y"), [("<u:a>",)], [solution])
    assert message in str(caught.value)


def test_blank_nodes_are_labelled_by_what_they_are_in_the_mappings() -> None:
    block = block_of("?x <u:p> ?y . ?y <u:q> ?z")
    for seed in range(200):
        rng = random.Random(seed)
        names = [f"_:n{i}" for i in range(rng.randint(1, 4))]
        rows = [
            {"x": "<u:a>", "y": rng.choice(names), "z": rng.choice((*names, *NODES[:2]))}
            for _ in range(rng.randint(1, 5))
        ]
        others = rng.sample([f"_:other{i}" for i in range(len(names))], len(names))
        renaming = dict(zip(names, others, strict=True))
        again = [{n: renaming.get(term, term) for n, term in row.items()} for row in rows]
        rng.shuffle(again)
        one = answers_by_key(block, [("<u:a>",)], rows)
        other = answers_by_key(block, [("<u:a>",)], again)
        assert one == other


def test_a_blank_node_is_one_of_its_key_however_keys_are_asked_for() -> None:
    block = block_of("?x <u:p> ?y . ?y <u:q> ?z")
    keys: list[Key] = [("<u:a>",), ("<u:b>",)]
    rows = {key: [{"x": key[0], "y": "_:b0", "z": z} for z in ('"1"', '"2"')] for key in keys}
    together = answers_by_key(block, keys, [*rows[keys[0]], *rows[keys[1]]])
    apart = {key: answers_by_key(block, [key], rows[key])[key] for key in keys}
    assert together == apart
    nodes = {key: {dict(row)["y"] for row in answer.rows} for key, answer in together.items()}
    assert all(len(of_key) == 1 for of_key in nodes.values())
    assert nodes[keys[0]] != nodes[keys[1]]


def test_a_block_that_is_asked_for_as_a_whole_has_the_blank_nodes_of_the_answer() -> None:
    whole = Block("<u:r>", "i", "?x <u:p> ?y", ("x", "y"), frozenset({"x", "y"}), ())
    rows = [{"x": "<u:a>", "y": "_:b0"}, {"x": "<u:b>", "y": "_:b0"}]
    assert len({dict(row)["y"] for row in answers_by_key(whole, [()], rows)[()].rows}) == 1


def test_mappings_that_differ_in_which_blank_node_is_which_differ() -> None:
    block = block_of("?x <u:p> ?y . ?y <u:q> ?z")
    key: Key = ("<u:a>",)
    loop = [{"x": "<u:a>", "y": "_:a", "z": "_:a"}]
    step = [{"x": "<u:a>", "y": "_:a", "z": "_:b"}]
    one, other = answers_by_key(block, [key], loop), answers_by_key(block, [key], step)
    assert one[key].content != other[key].content

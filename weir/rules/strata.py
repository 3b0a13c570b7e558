"""Strata: the atoms that rules derive, one stratum after the other.

Within a stratum of mutually recursive predicates, rounds follow each other until nothing is added.
Of each rule a round makes one variant per literal over a predicate of the stratum: that literal
reads what the round before has added, the others what is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from sqlglot import exp

from weir.compute.sql import columns, rows_of, select, union_all
from weir.engine.coverage import coalesced, coalesced_where_several
from weir.engine.interval_fixpoint import Names, interval_fixpoint
from weir.engine.relations import INTERVAL
from weir.engine.sweep import Key
from weir.lars.syntax import Literal, Rule, Stratified, Stratum
from weir.rules.bodies import Reader, body_of
from weir.rules.heads import head_rows, keeps_apart
from weir.rules.literals import Kind, Literals, RuleColumns, kind_of
from weir.rules.present import Present
from weir.rules.relations import POINT, Derived, arguments


def derive(program: Stratified, literals: Literals) -> Mapping[str, Derived]:
    """What the rules derive, by predicate.

    Args:
        program: the rules.
        literals: makes the relations; has nothing derived yet.
    """
    for number_, stratum in enumerate(program.strata):
        if stratum.recursive:
            literals.derived |= _fixpoint(stratum, literals, f"{literals.prefix}_s{number_}")
        else:
            for predicate in stratum.predicates:
                literals.derived[predicate] = _once(stratum.rules, predicate, literals)
    return literals.derived


def shared_kinds(program: Stratified) -> frozenset[Kind]:
    """The kinds of literals that are read more than once."""
    counted: Counter[Kind] = Counter()
    for stratum in program.strata:
        for rule in stratum.rules:
            for literal in rule.literals:
                if literal.atom.predicate in stratum.predicates:
                    continue
                # A recursive stratum reads in every round.
                counted[kind_of(literal)] += 2 if stratum.recursive else 1
    return frozenset(kind for kind, number_ in counted.items() if number_ > 1)


def _once(rules: Iterable[Rule], predicate: str, literals: Literals) -> Derived:
    """What the rules of a predicate derive that none of them reads."""

    def relation(own: list[Rule]) -> str | None:
        parts: list[exp.Query] = []
        apart = False
        for rule in own:
            names = RuleColumns.of(rule)
            body = body_of(rule, names, literals, _reader(literals, names))
            if body is not None:
                apart = keeps_apart(rule.head, body, names)
                parts.append(head_rows(rule.head, body, names, literals.axis, literals.points))
        if not parts:
            return None
        if len(parts) == 1 and apart:
            return literals.make(parts[0])
        key = _key(own[0])
        if not any(literals.is_large(literal) for rule in own for literal in rule.literals):
            return literals.make(coalesced(union_all(parts), key))
        together = literals.make(union_all(parts))
        rows = select(*columns((*key, *INTERVAL)), from_=rows_of(together))
        return literals.make(coalesced_where_several(rows, key))

    heads = [rule for rule in rules if rule.head.atom.predicate == predicate]
    return Derived(
        relation([rule for rule in heads if rule.head.time is None]),
        relation([rule for rule in heads if rule.head.time is not None]),
    )


def _fixpoint(stratum: Stratum, literals: Literals, prefix: str) -> dict[str, Derived]:
    """What the rules of a recursive stratum derive."""
    keys = {_target(rule): _key(rule) for rule in stratum.rules}
    seed: dict[str, list[exp.Query]] = {}
    recursive: list[tuple[Rule, tuple[int, ...]]] = []
    for rule in stratum.rules:
        within = tuple(
            i
            for i, literal in enumerate(rule.literals)
            if literal.atom.predicate in stratum.predicates
        )
        if within:
            recursive.append((rule, within))
        else:
            names = RuleColumns.of(rule)
            _add(seed, rule, literals, _reader(literals, names))

    present = Present.of(literals.engine, [rule for rule, _ in recursive])

    def step(new: Names, known: Names) -> Mapping[str, exp.Query]:
        derived: dict[str, list[exp.Query]] = {}
        for rule, within in recursive:
            names = RuleColumns.of(rule)
            for place in within:
                added = _derived(rule.literals[place], new)
                others = [rule.literals[i] for i in within if i != place]
                if present.may_match(rule.literals[place], added.relations) and all(
                    present.may_match(other, _derived(other, known).relations) for other in others
                ):
                    reader = _variant(literals, names, within, place, new, known)
                    _add(derived, rule, literals, reader)
        return _united(derived)

    made = interval_fixpoint(literals.engine, keys, _united(seed), step, prefix)
    return {predicate: _of(predicate, made) for predicate in stratum.predicates}


def _reader(literals: Literals, names: RuleColumns) -> Reader:
    def read(_: int, literal: Literal) -> exp.Query | None:
        return literals.rows(literal, names)

    return read


def _variant(
    literals: Literals,
    names: RuleColumns,
    within: tuple[int, ...],
    place: int,
    new: Names,
    known: Names,
) -> Reader:
    """Reads what is new for the literal at `place`, what is known for the others of the stratum."""

    def read(i: int, literal: Literal) -> exp.Query | None:
        if i not in within:
            return literals.rows(literal, names)
        added = _derived(literal, new) if i == place else None
        return literals.rows_of_derived(literal, _derived(literal, known), names, added)

    return read


def _derived(literal: Literal, relations: Names) -> Derived:
    return _of(literal.atom.predicate, relations)


def _of(predicate: str, relations: Names) -> Derived:
    plain, placed = (relations.get(_relation(predicate, kind)) for kind in ("plain", "placed"))
    return Derived(plain, placed)


def _relation(predicate: str, kind: str) -> str:
    return f"{predicate}_{kind}"


def rows_by(rule: Rule, literals: Literals, read: Reader) -> exp.Query | None:
    """What a rule derives, given the rows of its literals; None if its body never holds."""
    names = RuleColumns.of(rule)
    body = body_of(rule, names, literals, read)
    if body is None:
        return None
    return head_rows(rule.head, body, names, literals.axis, literals.points)


def _add(
    derived: dict[str, list[exp.Query]],
    rule: Rule,
    literals: Literals,
    read: Reader,
) -> None:
    """Add what a rule derives."""
    rows = rows_by(rule, literals, read)
    if rows is not None:
        derived.setdefault(_target(rule), []).append(rows)


def _united(derived: Mapping[str, list[exp.Query]]) -> Mapping[str, exp.Query]:
    return {name: union_all(parts) for name, parts in derived.items()}


def _target(rule: Rule) -> str:
    """Which relation the atoms of a rule's head are rows of."""
    return _relation(rule.head.atom.predicate, "plain" if rule.head.time is None else "placed")


def _key(rule: Rule) -> Key:
    key = arguments(len(rule.head.atom.arguments))
    return key if rule.head.time is None else (*key, POINT)

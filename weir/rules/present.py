"""Which constants the atoms of relations have: rules about others need not be evaluated.

A set of rules over triples has many rules, most of which are about words that a graph does not
have. What a statement costs is planning it, whether or not it finds a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.sql import alias, case, column, columns, one_of, rows_of, select
from weir.lars.columns import TRIPLE_COLUMNS, argument_columns
from weir.lars.syntax import Literal, Rule
from weir.sparql.algebra.expressions import Constant, Variable

_Part = tuple[str, tuple[str | None, ...], int]
"""A relation, the constants that its rows have, and a place in them."""
_FEW = 5_000
"""The values of relations of more rows are not compared."""
_Words = tuple[str | None, str | None]
"""The predicate and the object of a triple, where they are constants."""


@dataclass(slots=True)
class Present:
    """Looks for the constants of some rules, once in each relation.

    Attributes:
        engine: has the relations.
        predicates: that literals over triples name.
        objects: the same.
    """

    engine: SqlEngine
    predicates: tuple[str, ...]
    objects: tuple[str, ...]
    _words: dict[str, frozenset[_Words]] = field(default_factory=dict)
    _rows: dict[str, Sequence[Sequence[str]] | None] = field(default_factory=dict)
    _values: dict[_Part, frozenset[str] | None] = field(default_factory=dict)

    @classmethod
    def of(cls, engine: SqlEngine, rules: Iterable[Rule]) -> Present:
        """That of the constants of some rules."""
        words = [_words_of(literal) for rule in rules for literal in rule.literals]
        words += [_words_of(Literal(rule.head.atom)) for rule in rules]
        return cls(
            engine,
            tuple(sorted({predicate for predicate, _ in words if predicate is not None})),
            tuple(sorted({named for _, named in words if named is not None})),
        )

    def may_match(self, literal: Literal, relations: Sequence[str]) -> bool:
        """Whether an atom of some relations may be one of a literal."""
        predicate, named = _words_of(literal)
        if predicate is None:
            return bool(relations)
        return any(
            (predicate, named) in self._of(relation)
            if named is not None
            else any(own == predicate for own, _ in self._of(relation))
            for relation in relations
        )

    def may_join(self, literals: Iterable[tuple[Literal, Sequence[str]]]) -> bool:
        """Whether atoms of some relations may be those of literals, with the same variables.

        What they share is looked for one variable at a time; in large relations, it is not.

        Args:
            literals: each with the relations that have all its atoms.
        """
        bound: dict[str, frozenset[str]] = {}
        for literal, relations in literals:
            terms = literal.atom.arguments
            constants = tuple(term.term if isinstance(term, Constant) else None for term in terms)
            for place, term in enumerate(terms):
                if isinstance(term, Constant) and place:
                    continue
                own = [self._values_of((name, constants, place)) for name in relations]
                if any(values is None for values in own):
                    continue
                values = frozenset[str]().union(*filter(None, own))
                if isinstance(term, Variable):
                    values &= bound.get(term.name, values)
                    bound[term.name] = values
                if not values:
                    return False
        return True

    def _values_of(self, part: _Part) -> frozenset[str] | None:
        """The values of rows with some constants; None if the relation is large."""
        if part not in self._values:
            relation, constants, place = part
            if relation not in self._rows:
                cells = columns(argument_columns(len(constants)))
                rows = self.engine.rows(select(*cells, from_=rows_of(relation), limit=_FEW + 1))
                own = [[str(cell) for cell in row] for row in rows]
                self._rows[relation] = None if len(own) > _FEW else own
            matching = self._rows[relation]
            self._values[part] = (
                None
                if matching is None
                else frozenset(
                    row[place]
                    for row in matching
                    if all(c in (None, v) for c, v in zip(constants, row, strict=True))
                )
            )
        return self._values[part]

    def _of(self, relation: str) -> frozenset[_Words]:
        if relation not in self._words:
            predicate, object_ = column("a2"), column("a3")
            named: exp.Expr = exp.null()
            if self.objects:
                named = case((one_of(object_, self.objects), object_.copy()))
            rows = self.engine.rows(
                select(
                    predicate,
                    alias(named, "named"),
                    from_=rows_of(relation),
                    where=[one_of(predicate.copy(), self.predicates)],
                    distinct=True,
                )
            )
            self._words[relation] = frozenset(
                (str(own), None if value is None else str(value)) for own, value in rows
            )
        return self._words[relation]


def _words_of(literal: Literal) -> _Words:
    """The constants of a literal over triples; none of another one."""
    arguments = literal.atom.arguments
    if len(arguments) != len(TRIPLE_COLUMNS):
        return None, None
    _, predicate, object_ = (
        term.term if isinstance(term, Constant) else None for term in arguments
    )
    # Without a predicate, an object alone is not looked for.
    return (None, None) if predicate is None else (predicate, object_)

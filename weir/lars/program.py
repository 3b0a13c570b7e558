"""A program: checked rules and declarations, as a value that can be evaluated."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from weir.lars.atoms import (
    AtomPattern,
    Signature,
    declared_pattern,
    default_pattern,
    instance,
    read_signature,
    template,
)
from weir.lars.columns import PREDICATE, TRIPLE_COLUMNS, argument_columns
from weir.lars.errors import ProgramSyntaxError, UnsupportedProgram
from weir.lars.parse import parse
from weir.lars.predicates import Predicate, check_reads, predicates_of
from weir.lars.reads import LookBack, WindowRead, counted_reads, look_back, window_reads
from weir.lars.rule_sets import FOLLOWS, RuleSetName, rule_set
from weir.lars.safety import check_ground, safe
from weir.lars.strata import strata
from weir.lars.syntax import CountedAtom, Place, RuleSet, Stratified
from weir.lars.terms import Namespaces
from weir.lars.triples import over_triples, refuse_times
from weir.sparql.algebra.expressions import Variable
from weir.sparql.algebra.patterns import TriplePattern

TimeTerms = Literal["integer", "dateTime"]
"""The kind of RDF terms that points are: integers counted from the origin, or times."""


@dataclass(frozen=True, slots=True)
class DeclaredAtom:
    """An entry of `atoms` or `write_stream`: a signature, its pattern or template, its place."""

    signature: str
    triples: str
    place: Place
    origin: Literal["stream", "graph"] = "stream"


@dataclass(frozen=True, slots=True)
class Declarations:
    """The declarations of the front matter that decide a program's meaning.

    Attributes:
        streams: the names of the streams that it reads; none of a program that gives a graph.
        prefixes: IRIs without brackets by prefix, without its colon.
        atoms: the patterns of atoms.
        output: the published predicates, with their places; None for all derived predicates.
        written: the templates of atoms that are written back as a stream.
        written_stream: the name of that stream; None without one.
        rules: the rule set that the rules of the text are added to; None for none.
    """

    streams: tuple[str, ...]
    prefixes: Mapping[str, str]
    atoms: tuple[DeclaredAtom, ...] = ()
    output: tuple[tuple[str, Place], ...] | None = None
    written: tuple[DeclaredAtom, ...] = ()
    written_stream: str | None = None
    rules: RuleSetName | None = None


@dataclass(frozen=True, slots=True)
class WrittenAtom:
    """The triples as which atoms of a predicate are written back, as events at their points.

    Attributes:
        predicate: of the atoms.
        arguments: the variables of `triples` for the arguments, in order.
        triples: the template.
    """

    predicate: str
    arguments: tuple[str, ...]
    triples: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class CountedRead:
    """The atoms that tuple windows read which count the same tuples.

    Attributes:
        counted: the atoms whose triples are counted; none if all tuples are.
        triples: a tuple is counted if it matches one of them; none if all tuples are.
        patterns: of the atoms that are read.
    """

    counted: tuple[CountedAtom, ...]
    triples: tuple[TriplePattern, ...]
    patterns: tuple[AtomPattern, ...]


@dataclass(frozen=True)
class Program:
    """A program that has a unique answer stream over any input streams.

    Attributes:
        rules: its strata and facts.
        predicates: all predicates of the text or the front matter, by name.
        patterns: of the predicates that are read from streams or the graph, by name.
        streams: the names of the streams that it reads.
        output: the derived predicates that are published, in the order of the text.
        written: the atoms that are written back as a stream.
        written_stream: the name of that stream; None without one.
        answer: of a program that gives a graph, the predicate whose atoms are its triples.
    """

    rules: Stratified
    predicates: Mapping[str, Predicate]
    patterns: Mapping[str, AtomPattern]
    streams: tuple[str, ...]
    output: tuple[str, ...]
    written: tuple[WrittenAtom, ...] = ()
    written_stream: str | None = None
    answer: str | None = None

    @cached_property
    def look_back(self) -> LookBack:
        """How much of the streams the answer at a point depends on."""
        predicates = self.predicates.values()
        of_streams = {predicate.name for predicate in predicates if predicate.origin == "stream"}
        return look_back(self.rules.rules, of_streams)

    @cached_property
    def window_reads(self) -> tuple[WindowRead, ...]:
        """The windows of its rules; a window that several rules have is evaluated once."""
        return window_reads(sorted(self.rules.rules, key=lambda rule: rule.place))

    @cached_property
    def counted_reads(self) -> tuple[CountedRead, ...]:
        """What its tuple windows count, and the atoms that they read."""
        return tuple(
            CountedRead(
                counted,
                tuple(
                    triple
                    for atom in counted
                    for triple in instance(self.patterns[atom.predicate], atom.arguments)
                ),
                tuple(self.patterns[name] for name in names),
            )
            for counted, names in counted_reads(self.rules.rules).items()
        )

    @property
    def answer_columns(self) -> tuple[str, ...]:
        """The columns of a published atom: predicate, a1, ..; null where it has fewer arguments.

        Of a program that gives a graph, those of a triple.
        """
        if self.answer is not None:
            return TRIPLE_COLUMNS
        most = max((self.predicates[name].arity for name in self.output), default=0)
        return (PREDICATE, *argument_columns(most))

    @property
    def reads_graph(self) -> bool:
        """Whether it reads the maintained graph."""
        return any(pattern.origin == "graph" for pattern in self.read_patterns)

    @cached_property
    def read_patterns(self) -> tuple[AtomPattern, ...]:
        """The patterns of the atoms that rules read; declarations may have more."""
        literals = (literal for rule in self.rules.rules for literal in rule.literals)
        names = dict.fromkeys(literal.atom.predicate for literal in literals)
        return tuple(self.patterns[name] for name in names if name in self.patterns)

    def argument_names(self, predicate: str, taken: Collection[str] = ()) -> tuple[str, ...]:
        """Different names for the arguments of a derived predicate, in lower case.

        A name is the variable of the first head that has one at its position, unless it is `taken`
        or ends in `_term`, as columns of exact terms do; else `a1`, `a2` or `a3`.
        """
        heads = [r.head.atom for r in self.rules.rules if r.head.atom.predicate == predicate]
        names: list[str] = []
        for i in range(self.predicates[predicate].arity):
            own = (head.arguments[i] for head in sorted(heads, key=lambda atom: atom.place))
            variables = (term.name.lower() for term in own if isinstance(term, Variable))
            free = (
                name
                for name in variables
                if name not in (*names, *taken, "a1", "a2", "a3") and not name.endswith("_term")
            )
            names.append(next(free, f"a{i + 1}"))
        return tuple(names)


def read_program(text: str, declarations: Declarations, file: str = "<program>") -> Program:
    """The program of a text.

    Args:
        text: rules and facts; the lines of its front matter are comments.
        declarations: of the front matter.
        file: name of the text, for errors.

    Raises:
        ProgramSyntaxError: text or declarations are malformed.
        UnsupportedProgram: the rules have no unique meaning, or Weir cannot maintain them.
    """
    namespaces = Namespaces(declarations.prefixes, file)
    rules = parse(text, declarations.prefixes, file)
    if declarations.rules is not None:
        shipped = rule_set(declarations.rules)
        rules = RuleSet((*shipped.rules, *rules.rules), rules.facts)
    if not rules.rules:
        raise ProgramSyntaxError(
            "program", file, Place(1, 1), "it has no rule", "Write head <- body."
        )
    declared = [_pattern(atom, declarations.prefixes, file) for atom in declarations.atoms]
    _refuse_repeated([signature for signature, _ in declared], file)
    predicates = predicates_of(
        rules,
        {
            signature.predicate: Predicate(
                signature.predicate, len(signature.arguments), pattern.origin, signature.place
            )
            for signature, pattern in declared
        },
        file,
        "stream" if declarations.streams else "graph",
    )
    if not declarations.streams:
        refuse_times(rules.rules, file)
    check_reads(rules, predicates, len(declarations.streams), file)
    patterns = {pattern.predicate: pattern for _, pattern in declared}
    for predicate in predicates.values():
        if predicate.origin in ("stream", "graph") and predicate.name not in patterns:
            patterns[predicate.name] = default_pattern(predicate, namespaces)
    output = _output(rules, declarations, predicates, file)
    checked, answer = stratified(rules, file), None
    if not declarations.streams:
        checked, answer = over_triples(checked, output, predicates, namespaces)
    return Program(
        rules=checked,
        predicates=predicates,
        patterns=patterns,
        streams=declarations.streams,
        output=output,
        written=tuple(
            _written(atom, output, declarations, predicates, file) for atom in declarations.written
        ),
        written_stream=declarations.written_stream,
        answer=answer,
    )


def stratified(rules: RuleSet, file: str) -> Stratified:
    """The strata of rules, which are checked to be safe and stratified.

    Raises:
        UnsupportedProgram: they are not safe or not stratified.
    """
    for fact in rules.facts:
        check_ground(fact, file)
    return Stratified(strata([safe(rule, file) for rule in rules.rules], file), rules.facts)


def _pattern(
    declared: DeclaredAtom, prefixes: Mapping[str, str], file: str
) -> tuple[Signature, AtomPattern]:
    signature = read_signature(declared.signature, declared.place, file)
    return signature, declared_pattern(signature, declared.triples, declared.origin, prefixes, file)


def _refuse_repeated(signatures: Sequence[Signature], file: str) -> None:
    seen: set[str] = set()
    for signature in signatures:
        if signature.predicate in seen:
            raise ProgramSyntaxError(
                signature.predicate, file, signature.place, "it is declared twice", "Delete one."
            )
        seen.add(signature.predicate)


def _output(
    rules: RuleSet, declarations: Declarations, predicates: Mapping[str, Predicate], file: str
) -> tuple[str, ...]:
    derived = tuple(dict.fromkeys(rule.head.atom.predicate for rule in rules.rules))
    if declarations.output is None:
        return derived if declarations.rules is None else (FOLLOWS,)
    for name, place in declarations.output:
        _check_derived(name, place, predicates, file)
    published = {name for name, _ in declarations.output}
    return tuple(name for name in derived if name in published)


def _written(
    declared: DeclaredAtom,
    output: Sequence[str],
    declarations: Declarations,
    predicates: Mapping[str, Predicate],
    file: str,
) -> WrittenAtom:
    signature = read_signature(declared.signature, declared.place, file)
    _check_derived(signature.predicate, signature.place, predicates, file)
    if signature.predicate not in output:
        raise UnsupportedProgram(
            signature.predicate,
            file,
            signature.place,
            "only what is published is written to a stream",
            f"Add {signature.predicate} to `output`.",
        )
    arity = predicates[signature.predicate].arity
    if len(signature.arguments) != arity:
        reason = f"the rules derive it with {arity} arguments"
        raise ProgramSyntaxError(declared.signature, file, signature.place, reason)
    triples = template(signature, declared.triples, declarations.prefixes, file)
    return WrittenAtom(signature.predicate, signature.arguments, triples)


def _check_derived(name: str, place: Place, predicates: Mapping[str, Predicate], file: str) -> None:
    if name not in predicates or predicates[name].origin != "rules":
        derived = ", ".join(p.name for p in predicates.values() if p.origin == "rules")
        raise UnsupportedProgram(
            name, file, place, "no rule derives it", f"The rules derive {derived}."
        )

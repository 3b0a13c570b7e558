"""The RDF terms of the constants of a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weir.lars.errors import ProgramSyntaxError
from weir.lars.syntax import Place
from weir.rdf import terms
from weir.sparql.algebra.expressions import Constant
from weir.sparql.frontend.literals import boolean, number


@dataclass(frozen=True, slots=True)
class Namespaces:
    """The prefixes of a program.

    Attributes:
        prefixes: IRIs without brackets by prefix, without its colon. Names without a prefix have
            the empty one: `room` is `:room`.
        file: name of the program's file, for errors.
    """

    prefixes: Mapping[str, str]
    file: str

    def of_name(self, name: str, place: Place) -> Constant:
        """The constant of a name without prefix: `true` and `false` are literals, others IRIs.

        Raises:
            ProgramSyntaxError: the empty prefix is not declared.
        """
        if name in ("true", "false"):
            return Constant(boolean(name))
        if "" not in self.prefixes:
            raise ProgramSyntaxError(
                name,
                self.file,
                place,
                "a name stands for an IRI, and no namespace is declared for names",
                'Declare one in the front matter, prefixes: {"": "http://example.org/"}, or write a'
                " prefixed name, an <IRI> or a string.",
            )
        return Constant(terms.iri(self.prefixes[""] + name))

    def of_prefixed_name(self, text: str, place: Place) -> Constant:
        """The IRI of a prefixed name such as `ex:room`.

        Raises:
            ProgramSyntaxError: the prefix is not declared.
        """
        prefix, _, local = text.partition(":")
        if prefix not in self.prefixes:
            raise ProgramSyntaxError(
                text,
                self.file,
                place,
                f"the prefix {prefix}: is not declared",
                f'Declare it in the front matter: prefixes: {{"{prefix}": "http://..."}}.',
            )
        return self.of_iri(f"<{self.prefixes[prefix]}{local}>", text, place)

    def of_iri(self, text: str, written: str, place: Place) -> Constant:
        """An IRI in angle brackets.

        Raises:
            ProgramSyntaxError: it is not an absolute IRI.
        """
        return Constant(self._canonical(text, written, place))

    def of_literal(self, text: str, written: str, place: Place) -> Constant:
        """A literal in N-Triples form, escapes and upper-case language tags allowed.

        Raises:
            ProgramSyntaxError: the datatype, the language tag or an escape is not valid.
        """
        return Constant(self._canonical(text, written, place))

    def _canonical(self, text: str, written: str, place: Place) -> str:
        try:
            return terms.canonical_term(text, "object")
        except terms.TermError as error:
            raise ProgramSyntaxError(written, self.file, place, str(error)) from error


def of_number(text: str) -> Constant:
    """A number, maybe with a sign: an integer, decimal or double as in SPARQL."""
    return Constant(number(text))

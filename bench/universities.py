"""Universities of any number, as the Lehigh University Benchmark describes them.

How many departments, people, courses and publications there are, and how they hang together,
follows Y. Guo, Z. Pan, J. Heflin, LUBM: A benchmark for OWL knowledge base systems, Journal of Web
Semantics 3 (2005). Names and chances are of this module; the ontology is `universities.ttl`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.railway import Triple

NAMESPACE = "http://universities/"
ONTOLOGY = Path(__file__).resolve().parent / "universities.ttl"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_FACULTY = {
    "FullProfessor": ((7, 10), (15, 20)),
    "AssociateProfessor": ((10, 14), (10, 18)),
    "AssistantProfessor": ((8, 11), (5, 10)),
    "Lecturer": ((5, 7), (0, 5)),
}
"""How many of a kind a department has, and how many publications each of them."""
_DEGREES_FROM = 1_000
"""Degrees are from so many universities, of which most are names only."""


@dataclass(frozen=True, slots=True)
class Universities:
    """So many universities, each with about 100,000 triples.

    Attributes:
        count: how many.
        departments: how many each has at least and at most.
    """

    count: int
    departments: tuple[int, int] = (15, 25)

    def triples(self) -> Iterator[Triple]:
        """All of them, the same every time, without the ontology."""
        for number in range(self.count):
            chance = random.Random(number)
            yield iri(number), TYPE, name("University")
            yield iri(number), name("name"), f'"University {number}"'
            for department in range(chance.randint(*self.departments)):
                yield from _Department(number, department, chance).triples()


@dataclass(slots=True)
class _Department:
    """A department of a university, and the people in it."""

    university: int
    number: int
    chance: random.Random

    def triples(self) -> Iterator[Triple]:
        """The department, and all that belongs to it."""
        department = self._iri()
        yield department, TYPE, name("Department")
        yield department, name("name"), f'"Department {self.number}"'
        yield department, name("subOrganizationOf"), iri(self.university)
        for group in range(self._some(10, 20)):
            own = self._iri("ResearchGroup", group)
            yield own, TYPE, name("ResearchGroup")
            yield own, name("subOrganizationOf"), department
        faculty = {
            kind: [self._iri(kind, i) for i in range(self._some(*counts))]
            for kind, (counts, _) in _FACULTY.items()
        }
        everyone = [person for people in faculty.values() for person in people]
        professors = [
            person for kind, people in faculty.items() if kind != "Lecturer" for person in people
        ]
        yield self.chance.choice(faculty["FullProfessor"]), name("headOf"), department
        courses, advanced = list[str](), list[str]()
        for kind, people in faculty.items():
            for person in people:
                yield from self._employee(person, kind)
                for taught, of_kind in ((courses, "Course"), (advanced, "GraduateCourse")):
                    yield from self._taught(person, taught, of_kind)
        graduates = [
            self._iri("GraduateStudent", i) for i in range(sum(self._some(3, 4) for _ in everyone))
        ]
        yield from self._graduates(graduates, professors, advanced, courses)
        yield from self._undergraduates(len(everyone), professors, courses)
        yield from self._publications(faculty, graduates)

    def _employee(self, person: str, kind: str) -> Iterator[Triple]:
        yield from self._person(person, kind)
        yield person, name("worksFor"), self._iri()
        yield person, name("researchInterest"), f'"Research {self.chance.randrange(30)}"'
        for degree in ("undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom"):
            yield from self._degree(person, degree)

    def _person(self, person: str, kind: str) -> Iterator[Triple]:
        own = person.strip("<>").removeprefix(NAMESPACE)
        yield person, TYPE, name(kind)
        yield person, name("name"), f'"{own.rpartition("/")[2]}"'
        yield person, name("emailAddress"), f'"{own.replace("/", ".")}@example.org"'
        yield person, name("telephone"), '"xxx-xxx-xxxx"'

    def _degree(self, person: str, degree: str) -> Iterator[Triple]:
        university = iri(self.chance.randrange(_DEGREES_FROM))
        yield person, name(degree), university
        yield university, TYPE, name("University")

    def _taught(self, person: str, courses: list[str], kind: str) -> Iterator[Triple]:
        for _ in range(self._some(1, 2)):
            course = self._iri(kind, len(courses))
            courses.append(course)
            yield person, name("teacherOf"), course
            yield course, TYPE, name(kind)
            yield course, name("name"), f'"{kind} {len(courses)}"'

    def _graduates(
        self,
        graduates: Sequence[str],
        professors: Sequence[str],
        advanced: Sequence[str],
        courses: Sequence[str],
    ) -> Iterator[Triple]:
        for person in graduates:
            yield from self._person(person, "GraduateStudent")
            yield person, name("memberOf"), self._iri()
            yield from self._degree(person, "undergraduateDegreeFrom")
            yield person, name("advisor"), self.chance.choice(professors)
            yield from self._taken(person, advanced, 1, 3)
        assistants = self.chance.sample(graduates, len(graduates) // self._some(4, 5))
        for person, course in zip(
            assistants, self.chance.sample(courses, len(courses)), strict=False
        ):
            yield person, TYPE, name("TeachingAssistant")
            yield person, name("teachingAssistantOf"), course
        for person in self.chance.sample(graduates, len(graduates) // self._some(3, 4)):
            yield person, TYPE, name("ResearchAssistant")

    def _undergraduates(
        self, faculty: int, professors: Sequence[str], courses: Sequence[str]
    ) -> Iterator[Triple]:
        for number in range(sum(self._some(8, 14) for _ in range(faculty))):
            person = self._iri("UndergraduateStudent", number)
            yield from self._person(person, "UndergraduateStudent")
            yield person, name("memberOf"), self._iri()
            yield from self._taken(person, courses, 2, 4)
            if self.chance.random() < 1 / 5:
                yield person, name("advisor"), self.chance.choice(professors)

    def _taken(
        self, person: str, courses: Sequence[str], least: int, most: int
    ) -> Iterator[Triple]:
        for course in self.chance.sample(courses, self._some(least, most)):
            yield person, name("takesCourse"), course

    def _publications(
        self, faculty: dict[str, list[str]], graduates: Sequence[str]
    ) -> Iterator[Triple]:
        for kind, people in faculty.items():
            for person in people:
                for number in range(self._some(*_FACULTY[kind][1])):
                    own = f"{person[:-1]}/Publication{number}>"
                    yield own, TYPE, name("Publication")
                    yield own, name("name"), f'"Publication {number}"'
                    yield own, name("publicationAuthor"), person
                    if self.chance.random() < 1 / 3:
                        yield own, name("publicationAuthor"), self.chance.choice(graduates)

    def _some(self, least: int, most: int) -> int:
        return self.chance.randint(least, most)

    def _iri(self, kind: str = "", number: int = 0) -> str:
        own = f"/{kind}{number}" if kind else ""
        return f"<{NAMESPACE}University{self.university}/Department{self.number}{own}>"


def iri(university: int) -> str:
    """The university with a number."""
    return f"<{NAMESPACE}University{university}>"


def name(local: str) -> str:
    """A word of the ontology."""
    return f"<{NAMESPACE}{local}>"

"""Pods of people on a few hosts, as documents that link to each other: 50 for each person, and one.

| path | what it is |
| --- | --- |
| `/people/N` | a person: leads to the card by 303; the first person is `/pods/0/card#me` instead |
| `/pods/N/card` | name, storage, and whom the person knows |
| `/pods/N/`, `posts/`, `posts/YEAR/` | containers, one in the other |
| `/pods/N/posts/YEAR/K` | a post with a tag |
| `/tags/T` | a tag: leads to `/vocabulary` by 303 |

The first person knows all others. The second one knows ten, who know all that are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

YEARS, POSTS, TAGS = (2025, 2026), 45, 37
DOCUMENTS = 3 + len(YEARS) + POSTS
"""Of a person."""
BYTES = 1_600
PREFIXES = {
    "sn": "https://social.example/ns#",
    "ldp": "http://www.w3.org/ns/ldp#",
    "pim": "http://www.w3.org/ns/pim/space#",
}
_FILLER = "lorem ipsum " * 200
_HEAD = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())


@dataclass(frozen=True, slots=True)
class Pods:
    """People, and the servers that have their documents.

    Attributes:
        origins: of the servers; those of a person are on one of them.
        people: their number, at least 2.
    """

    origins: tuple[str, ...]
    people: int = 100

    def origin(self, person: int) -> str:
        """Where the documents of a person are."""
        return self.origins[person % len(self.origins)]

    def iri(self, person: int) -> str:
        """A person."""
        if person == 0:
            return f"{self.origin(0)}/pods/0/card#me"
        return f"{self.origin(person)}/people/{person}"

    def card(self, person: int) -> str:
        """The document about a person."""
        return f"{self.origin(person)}/pods/{person}/card"

    def post(self, person: int, number: int) -> str:
        """A post of a person."""
        year = YEARS[number % len(YEARS)]
        return f"{self.origin(person)}/pods/{person}/posts/{year}/{number}"

    def known_to(self, person: int) -> Sequence[int]:
        """Whom a person knows."""
        if person == 0:
            return range(1, self.people)
        friends = range(2, min(12, self.people))
        return friends if person == 1 else range(12, self.people)[person - 2 :: 10]

    def documents(self) -> Iterator[tuple[str, str]]:
        """The documents by their IRI, in Turtle."""
        for person in range(self.people):
            yield self.card(person), self.card_text(person, f"Person {person}")
            root = f"{self.origin(person)}/pods/{person}/"
            yield root, _padded(f"<> ldp:contains <{root}posts/> .\n")
            years = "".join(f"<> ldp:contains <{root}posts/{year}/> .\n" for year in YEARS)
            yield f"{root}posts/", _padded(years)
            for place, year in enumerate(YEARS):
                posts = range(place, POSTS, len(YEARS))
                links = "".join(f"<> ldp:contains <{number}> .\n" for number in posts)
                yield f"{root}posts/{year}/", _padded(links)
            for number in range(POSTS):
                yield self.post(person, number), self.post_text(person, number, "Hello")
        tags = "".join(f'<tags/{tag}> sn:label "tag {tag}" .\n' for tag in range(TAGS))
        yield f"{self.origins[0]}/vocabulary", _padded(tags)

    def redirects(self) -> Iterator[tuple[str, str]]:
        """By IRI, the document that it leads to."""
        for person in range(1, self.people):
            yield self.iri(person), self.card(person)
        for tag in range(TAGS):
            yield self.tag(tag), f"{self.origins[0]}/vocabulary"

    def tag(self, number: int) -> str:
        """A tag."""
        return f"{self.origins[0]}/tags/{number}"

    def card_text(self, person: int, name: str) -> str:
        """The document about a person of a name."""
        own = f"<{self.iri(person)}>"
        storage = f"{own} sn:name {_quoted(name)} ; pim:storage </pods/{person}/> .\n"
        known = "".join(
            f"{own} sn:knows <{self.iri(other)}> .\n" for other in self.known_to(person)
        )
        return _padded(storage + known)

    def post_text(self, person: int, number: int, content: str) -> str:
        """A post with a content."""
        creator, tag = f"<{self.iri(person)}>", f"<{self.tag(number % TAGS)}>"
        return _padded(
            f"<> sn:creator {creator} ; sn:tag {tag} ; sn:content {_quoted(content)} .\n"
        )


def _quoted(text: str) -> str:
    return f'"{text}"'


def _padded(text: str) -> str:
    """A document that is as long as one of a pod usually is."""
    content = _HEAD + text
    lacking = BYTES - len(content) - len('<> sn:text "" .\n')
    return content if lacking <= 0 else f'{content}<> sn:text "{_FILLER:.{lacking}}" .\n'

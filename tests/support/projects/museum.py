"""A museum whose register changes: a project with answers, checks and problems, for its site."""

from __future__ import annotations

import copy
import random
import shutil
from pathlib import Path
from typing import Any, Self

import weir

HOSTILE = (
    "</script><script>document.title='run'</script><img src=x onerror=document.title='run'>\"'&"
)
"""Markup that would rename the page if it ran."""
_PLACES = ("Attic", "Roman", "Etruscan", "Minoan", "Egyptian")
_THINGS = ("vase", "coin", "mask", "amphora", "ring")
_LINES = {
    "exhibits": """#+ description: All exhibits, where they are and what they are insured for.
#+ owner: registrar
#+ tags: [collection, public]
#+ columns: {insured: in euros}
PREFIX : <http://example.org/>
SELECT ?exhibit ?title ?room ?insured {
  ?exhibit :title ?title ; :room ?room ; :insured ?insured .
}
""",
    "rooms": """#+ description: How many exhibits each room has, and their value.
PREFIX : <http://example.org/>
SELECT ?room (COUNT(?e) AS ?exhibits) (SUM(?i) AS ?insured) { ?e :room ?room ; :insured ?i }
GROUP BY ?room
""",
    "loans": """#+ description: Objects that are lent, and to whom.
PREFIX : <http://example.org/>
SELECT ?title ?museum { ?e :title ?title ; :lent_to ?museum }
""",
}
_CHECK = """answers: exhibits
expectations:
  - type: expect_column_values_to_be_between
    kwargs: {column: insured, min_value: 0}
    name: insured_is_positive
    description: Nothing is insured for less than nothing.
"""


class Museum:
    """The project, and the register as it is now."""

    def __init__(self, folder: Path, exhibits: int = 30, seed: int = 7) -> None:
        self.folder = folder
        self._random = random.Random(seed)
        self._version = 0
        self.exhibits: dict[int, dict[str, Any]] = {}
        for _ in range(exhibits):
            self.add()
        for path, text in {
            "weir.toml": 'lake = "lake"\n[limits]\ncurrent_rows = 1000\n',
            "sources.yml": "sources:\n  - {name: register, kind: snapshots, location: data}\n",
            "expectations/exhibits.yml": _CHECK,
            **{f"queries/{name}.rq": text for name, text in _LINES.items()},
        }.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (folder / "data").mkdir()

    def copy(self, folder: Path) -> Self:
        """The same museum in another folder."""
        shutil.copytree(self.folder, folder)
        copied = copy.deepcopy(self)
        copied.folder = folder
        return copied

    def add(self, **values: Any) -> None:
        """A new exhibit."""
        number = max(self.exhibits, default=0) + 1
        place, thing = self._random.choice(_PLACES), self._random.choice(_THINGS)
        title = f"{place} {thing} {number}"
        room, insured = self._random.randrange(1, 6), self._random.randrange(50, 9000)
        kind = thing.capitalize()
        exhibit = {"title": title, "kind": kind, "room": room, "insured": insured}
        self.exhibits[number] = exhibit | values

    def change(self) -> None:
        """Move, lend, insure, add and remove a few exhibits."""
        for _ in range(self._random.randrange(1, 4)):
            number = self._random.choice([*self.exhibits])
            match self._random.randrange(5):
                case 0 | 1:
                    self.exhibits[number]["room"] = self._random.randrange(1, 6)
                case 2:
                    self.exhibits[number]["lent_to"] = self._random.choice(("louvre", "prado"))
                case 3:
                    self.exhibits[number]["insured"] += self._random.randrange(1, 500)
                case 4 if len(self.exhibits) > 5:
                    del self.exhibits[number]
                    self.add()

    def deliver(self) -> None:
        """Write the register as it is now as its next version."""
        self._version += 1
        lines = ["@prefix : <http://example.org/> ."]
        for number, exhibit in self.exhibits.items():
            title = exhibit["title"].replace('"', '\\"')
            lent = f" ; :lent_to :{exhibit['lent_to']}" if "lent_to" in exhibit else ""
            lines.append(
                f':e{number} a :{exhibit["kind"]} ; :title "{title}"@en'
                f' ; :room "Room {exhibit["room"]}" ; :insured {exhibit["insured"]}{lent} .'
            )
        file = self.folder / f"data/{self._version:03}.ttl"
        file.write_text("\n".join(lines) + "\n")

    def run(self) -> None:
        """Run the stages; what is held or broken is no failure here."""
        with weir.Project(self.folder) as project:
            project.run(check=False)

    def live(self, versions: int) -> None:
        """Deliver and run so many versions, one after the other."""
        for _ in range(versions):
            self.deliver()
            self.run()
            self.change()

"""What type a column of terms has, and what each term is in a column of a type.

docs/types.md has the rules as a table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal
from typing import Literal, get_args

from weir.rdf.terms import XSD_STRING, Blank, Iri, iri, literal
from weir.sparql.functions.calendar import Moment, date_time_text, parse_date_time
from weir.sparql.functions.floats import canonical_double, canonical_single
from weir.sparql.functions.values import (
    NUMERIC_DATATYPES,
    XSD,
    Boolean,
    Date,
    DateTime,
    LangText,
    Number,
    NumericType,
    Opaque,
    Text,
    Value,
    datatype_of,
    parse,
)

TypeName = Literal["integer", "decimal", "double", "boolean", "date", "timestamp", "text"]
TYPE_NAMES: tuple[TypeName, ...] = get_args(TypeName)
RESOURCE = ""
"""Stands for the datatype of a column of IRIs and blank nodes."""
DIGITS = 38
"""Most digits of a decimal."""
_SCALES = (2, 4, 9, 18)
"""Digits after the point: the least of these that suffices, so that later values fit, too."""
_PINNED_SCALE = 9
_STAMP = f"{XSD}dateTimeStamp"
_PIN = re.compile(r"([a-z]+)(?:\(([0-9]{1,2})\))?")

PlainValue = int | Decimal | float | bool | date | datetime | str


@dataclass(frozen=True, slots=True)
class TermType:
    """The type of a column.

    Attributes:
        name: of the type.
        datatype: the IRI of the datatype whose literals have no term beside them if they are
            canonical; `RESOURCE` of a column of IRIs.
        scale: of a decimal, the digits after the point.
        zoned: of a timestamp, whether its canonical literals have the zone `Z`, or none.
        decided: false as long as the column had no value; then it is a text.
    """

    name: TypeName
    datatype: str
    scale: int = 0
    zoned: bool = True
    decided: bool = True

    def __str__(self) -> str:
        return f"decimal({self.scale})" if self.name == "decimal" else self.name

    @property
    def is_exact_number(self) -> bool:
        """Whether it has numbers of a fixed number of digits."""
        return self.name in ("integer", "decimal")


@dataclass(frozen=True, slots=True)
class Cell:
    """A term in a column.

    Attributes:
        value: None if the term is ill-typed.
        language: of a text, in lower case.
        is_exact: whether the term follows from value and language.
    """

    value: PlainValue | None
    language: str | None = None
    is_exact: bool = True


class Misfit(ValueError):  # noqa: N818  (named after what is wrong)
    """A term that a column of a type cannot have; the message says why."""


TEXT = TermType("text", XSD_STRING)
UNDECIDED = replace(TEXT, decided=False)
_DATATYPES: dict[TypeName, str] = {
    "integer": f"{XSD}integer",
    "decimal": f"{XSD}decimal",
    "double": f"{XSD}double",
    "boolean": f"{XSD}boolean",
    "date": f"{XSD}date",
    "timestamp": f"{XSD}dateTime",
    "text": XSD_STRING,
}


def pinned(text: str) -> TermType:
    """The type that a definition names: `integer`, `decimal(4)`, `date`, ...

    Raises:
        ValueError: there is no such type.
    """
    match = _PIN.fullmatch(text)
    name = next((name for name in TYPE_NAMES if match is not None and name == match[1]), None)
    scale = match[2] if match is not None else None
    if name is None or (scale is not None and (name != "decimal" or int(scale) > DIGITS)):
        names = ", ".join(TYPE_NAMES)
        raise ValueError(f"{text!r} is no type: these are {names}; decimal(4) has four decimals")
    digits = (int(scale) if scale else _PINNED_SCALE) if name == "decimal" else 0
    return TermType(name, _DATATYPES[name], digits)


def decide(terms: Collection[str], pin: TermType | None = None) -> TermType:
    """The type of a column with these terms.

    Args:
        terms: in N-Triples form, each once.
        pin: the type that is wanted; the terms decide only which of them are canonical.

    Raises:
        Misfit: a term cannot have the wanted type.
    """
    values = [parse(term) for term in terms]
    if pin is None:
        return _decided(values) if values else UNDECIDED
    if pin.name == "text":
        return _text_type(values) if values else pin
    own = [value for value in values if _family(value) == _family_of(pin.name)]
    typed = _with_canonical(pin, own) if own else pin
    for term in terms:
        cell(typed, term)
    return typed


def cell(type_: TermType, term: str) -> Cell:
    """What a term is in a column of a type.

    Raises:
        Misfit: the column cannot have it.
    """
    value = parse(term)
    if type_.name == "text":
        return _text(type_, value)
    if _family(value) != _family_of(type_.name):
        raise Misfit(f"it is {_described(value)}")
    if isinstance(value, Opaque) and value.datatype != _STAMP:
        # Ill-typed: no number, no date.
        return Cell(None, is_exact=False)
    plain = _plain(type_, value)
    return Cell(plain, is_exact=_is_canonical(type_, value, plain))


def term(type_: TermType, value: PlainValue, language: str | None = None) -> str:
    """The term of an exact cell: the reverse of `cell`.

    Args:
        type_: of its column.
        value: of the cell.
        language: of the cell.
    """
    if type_.name != "text":
        return literal(_canonical(type_, value), type_.datatype)
    assert isinstance(value, str), "it is a text"
    if type_.datatype == RESOURCE:
        return value if value.startswith("_:") else iri(value)
    return literal(value, type_.datatype, language)


def _text(type_: TermType, value: Value) -> Cell:
    match value:
        case Iri(address):
            return Cell(address, is_exact=type_.datatype == RESOURCE)
        case Blank(label):
            return Cell(f"_:{label}", is_exact=type_.datatype == RESOURCE)
        case LangText(lexical, language):
            return Cell(lexical, language, type_.datatype == XSD_STRING)
        case _:
            return Cell(value.lexical, is_exact=type_.datatype == datatype_of(value))


def _plain(type_: TermType, value: Value) -> PlainValue:
    """The value of a well-typed literal of the family of a type.

    Raises:
        Misfit: it is out of the range of the type.
    """
    match type_.name, value:
        case "boolean", Boolean(truth):
            return truth
        case "date", Date(moment):
            return _date(moment)
        case "timestamp", DateTime(moment):
            return _instant(moment)
        case "timestamp", Opaque(lexical):
            stamp = parse_date_time(lexical)
            assert stamp is not None, "its family is that of timestamps"
            return _instant(stamp)
        case "double", Number(number):
            return _double(number)
        case "integer", Number(number):
            if not isinstance(number, int):
                raise Misfit(f"it is {_described(value)}")
            if not -(2**63) <= number < 2**63:
                raise Misfit("it has more than 64 bits")
            return number
        case "decimal", Number(number):
            if isinstance(number, float):
                raise Misfit(f"it is {_described(value)}")
            return _decimal(type_.scale, number)
        case _:
            raise AssertionError("its family is that of the type")


def _double(number: int | Decimal | float) -> float:
    try:
        return float(number)
    except OverflowError:
        raise Misfit("no double is so large") from None


def _decimal(scale: int, number: int | Decimal) -> Decimal:
    whole, fraction = _digits(number)
    if fraction > scale:
        raise Misfit(f"it has {fraction} digits after the point, and the column has {scale}")
    if whole > DIGITS - scale:
        raise Misfit(f"it has {whole} digits before the point, and the column {DIGITS - scale}")
    # Zeros at the end are more digits than Arrow takes.
    return Decimal(number).quantize(Decimal(1).scaleb(-scale), context=Context(prec=DIGITS))


def _digits(number: int | Decimal) -> tuple[int, int]:
    """How many digits a number has before and after the point, without zeros at the ends."""
    sign, digits, exponent = Decimal(number).as_tuple()
    del sign
    assert isinstance(exponent, int), "it is finite"
    text = "".join(map(str, digits)).lstrip("0")
    stripped = text.rstrip("0")
    if not stripped:
        return 0, 0
    exponent += len(text) - len(stripped)
    return max(0, len(stripped) + exponent), max(0, -exponent)


def _date(moment: Moment) -> date:
    if not 1 <= moment.year <= 9999:
        raise Misfit("its year is not within 1 and 9999")
    return date(moment.year, moment.month, moment.day)


def _instant(moment: Moment) -> datetime:
    """The time in UTC, of which a fraction of a microsecond is cut off; without a zone as if UTC.

    Raises:
        Misfit: it is not within the years 1 and 9999.
    """
    whole = int(moment.second)
    microsecond = int((moment.second - whole) * 1_000_000)
    try:
        written = datetime(
            moment.year,
            moment.month,
            moment.day,
            moment.hour,
            moment.minute,
            whole,
            microsecond,
            UTC,
        )
        return written - timedelta(minutes=moment.offset or 0)
    except (ValueError, OverflowError):
        raise Misfit("its year is not within 1 and 9999") from None


def _is_canonical(type_: TermType, value: Value, plain: PlainValue) -> bool:
    """Whether a literal is the one that its value stands for in a column of a type."""
    if isinstance(value, Iri | Blank) or datatype_of(value) != type_.datatype:
        return False
    # Equal to 0 for all who compare values.
    is_negative_zero = plain == 0 and value.lexical.startswith("-")
    return value.lexical == _canonical(type_, plain) and not is_negative_zero


def _canonical(type_: TermType, plain: PlainValue) -> str:
    """The canonical lexical form of a value."""
    match type_.name, plain:
        case "double", float(number):
            single = type_.datatype == f"{XSD}float"
            return canonical_single(number) if single else canonical_double(number)
        case "boolean", bool(truth):
            return "true" if truth else "false"
        case "timestamp", datetime() as instant:
            return _time_text(instant, zoned=type_.zoned)
        case "decimal", number:
            return _decimal_text(Decimal(str(number)))
        case _:
            return str(plain)


def _decimal_text(number: Decimal) -> str:
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _time_text(instant: datetime, *, zoned: bool) -> str:
    second = Decimal(instant.second) + Decimal(instant.microsecond) / 1_000_000
    day = instant.year, instant.month, instant.day, instant.hour, instant.minute
    return date_time_text(Moment(*day, second, 0 if zoned else None))


_Family = Literal["number", "boolean", "date", "timestamp", "text"]
_BOOLEAN, _DATE, _TIME = f"{XSD}boolean", f"{XSD}date", f"{XSD}dateTime"


def _family_of(name: TypeName) -> _Family:
    match name:
        case "integer" | "decimal" | "double":
            return "number"
        case _:
            return name


def _family(value: Value) -> _Family:
    """The types in which a term may have a value; of an ill-typed one, those of its datatype."""
    if isinstance(value, Iri | Blank | Text | LangText):
        return "text"
    datatype = datatype_of(value)
    if datatype in NUMERIC_DATATYPES:
        return "number"
    if datatype == _BOOLEAN:
        return "boolean"
    if datatype == _DATE:
        return "date"
    if datatype == _TIME:
        return "timestamp"
    if datatype == _STAMP and isinstance(value, Opaque):
        moment = parse_date_time(value.lexical)
        return "timestamp" if moment is not None and moment.offset is not None else "text"
    return "text"


def _decided(values: Sequence[Value]) -> TermType:
    families = {_family(value) for value in values}
    if len(families) == 1:
        (family,) = families
        typed = _typed(family, values)
        if typed is not None:
            return typed
    return _text_type(values)


def _typed(family: _Family, values: Sequence[Value]) -> TermType | None:
    """The type of literals of one family; None if it is text: no value, or one out of range."""
    well_typed = [
        value for value in values if not isinstance(value, Opaque) or value.datatype == _STAMP
    ]
    if family == "text" or not well_typed:
        return None
    typed: TermType | None
    if family == "number":
        typed = _number_type([value for value in well_typed if isinstance(value, Number)])
    else:
        typed = TermType(family, _DATATYPES[family])
    if typed is None:
        return None
    try:
        for value in well_typed:
            _plain(typed, value)
    except Misfit:
        return None
    return _with_canonical(typed, well_typed)


def _number_type(numbers: Sequence[Number]) -> TermType | None:
    kinds: set[NumericType] = {number.type for number in numbers}
    if kinds & {"double", "float"}:
        return TermType("double", _DATATYPES["double"])
    exact = [number.value for number in numbers if not isinstance(number.value, float)]
    if kinds == {"integer"} and all(-(2**63) <= number < 2**63 for number in exact):
        return TermType("integer", _DATATYPES["integer"])
    digits = [_digits(number) for number in exact]
    whole, fraction = (max(parts) for parts in zip(*digits, strict=True))
    scales = (0,) if kinds == {"integer"} else _SCALES
    fitting = (s for s in (*scales, fraction) if fraction <= s and whole <= DIGITS - s)
    scale = next(fitting, None)
    return None if scale is None else TermType("decimal", _DATATYPES["decimal"], scale)


def _with_canonical(type_: TermType, values: Sequence[Value]) -> TermType:
    """A type with the datatype and the zone that most of its values have."""
    literals = [value for value in values if not isinstance(value, Iri | Blank)]
    moments = [value.moment for value in values if isinstance(value, DateTime)]
    zoned = sum(moment.offset is not None for moment in moments) * 2 >= len(moments)
    return replace(type_, datatype=_most_common([*map(datatype_of, literals)]), zoned=zoned)


def _text_type(values: Sequence[Value]) -> TermType:
    if all(isinstance(value, Iri | Blank) for value in values):
        return TermType("text", RESOURCE)
    literals = [value for value in values if not isinstance(value, Iri | Blank)]
    datatypes = [
        XSD_STRING if isinstance(value, LangText) else datatype_of(value) for value in literals
    ]
    return TermType("text", _most_common(datatypes))


def _most_common(datatypes: Sequence[str]) -> str:
    """The most common one; of several, the first in the order of the alphabet."""
    counts = Counter(datatypes)
    return min(counts, key=lambda datatype: (-counts[datatype], datatype))


def _described(value: Value) -> str:
    match value:
        case Iri():
            return "an IRI"
        case Blank():
            return "a blank node"
        case LangText():
            return "a text with a language"
        case Text():
            return "a text"
        case _:
            datatype = datatype_of(value)
            is_xsd = datatype.startswith(XSD)
            return f"of the datatype {f'xsd:{datatype[len(XSD) :]}' if is_xsd else datatype}"

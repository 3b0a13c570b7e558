"""The one typed configuration: `weir.toml` in the project folder, then `WEIR_*` environment
variables.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Mapping
from contextvars import ContextVar
from ipaddress import ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from weir.errors import ConfigurationError
from weir.files.text import read_text
from weir.files.wrong_values import keys_at, reason
from weir.lake.delta.hadoop_options import options_of_store
from weir.lake.names import Name
from weir.lake.tables import FEED_FILE_DAYS, FEED_LOG_DAYS
from weir.text.near import meant
from weir.text.printable import printable
from weir.text.secret_keys import is_readable_by_others, is_secret, secret_settings
from weir.text.secret_values import hide

CONFIG_FILE = "weir.toml"
Document = Literal["site", "metrics", "artifacts", "openlineage"]
"""What a run writes for readers outside of the lake, by the setting that says where."""
_SIZE = r"(?P<number>\d+(\.\d+)?) ?(?P<unit>[KMGT])i?B"
_OF_STORES = ("AWS_", "AZURE_", "GOOGLE_")
"""Prefixes of the environment variables of object stores."""

_CONTENT: ContextVar[Mapping[str, Any]] = ContextVar(
    "content of the configuration file", default=MappingProxyType({})
)
"""Of the file that is being read."""

_RENAMED = {
    "local_rows": "broadcast_rows",
    "fetched_rows": "driver_rows",
    "local_batch_rows": "driver_rows",
    "local_parse_bytes": "driver_parse_bytes",
    "local_lookup_bytes": "driver_table_bytes",
    "local_table_bytes": "driver_table_bytes",
    "local_whole_rows": "driver_scan_rows",
}
"""Names that limits had in earlier versions, and their present names."""


def _size(value: str) -> str:
    if not re.fullmatch(_SIZE, value):
        raise ValueError("write a size with its unit: 2GB, 500MB")
    return value


Size = Annotated[str, AfterValidator(_size)]
"""A number of bytes with its unit."""


def _networks(networks: list[str]) -> list[str]:
    for network in networks:
        ip_network(network)
    return networks


Networks = Annotated[list[str], AfterValidator(_networks)]
"""Addresses that are not public and that may be connected to nevertheless."""


class SparkSettings(BaseModel):
    """How Spark is started by the command line and by `make`; under Airflow the connection decides
    the master.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    master: str = Field("local[2]", description="Spark master when no spark-submit gave one")
    driver_memory: str = Field("3g", description="heap of the driver")
    shuffle_partitions: int = Field(
        2, ge=1, description="spark.sql.shuffle.partitions: cores of the cluster"
    )
    conf: dict[str, str] = Field(
        default_factory=dict,
        description="further Spark settings, as they are; keys and passwords are refused",
    )

    @field_validator("conf")
    @classmethod
    def _has_no_secret(cls, conf: dict[str, str]) -> dict[str, str]:
        # They become arguments of processes, which everybody on the machine can list.
        if secrets := secret_settings(conf):
            raise ValueError(
                f"{', '.join(secrets)}: a secret does not belong here, where it would be on the"
                " command line of Spark. Give credentials of a store once, as `storage_options`"
                " (WEIR_STORAGE_OPTIONS, or under Airflow WEIR_STORAGE_CONNECTION): Spark gets them"
                " from there; other secrets belong into files of Spark or Hadoop"
            )
        return conf


class DuckDbSettings(BaseModel):
    """How much of the driver's machine each DuckDB connection may take, beside Spark's heap."""

    model_config = ConfigDict(extra="forbid")

    memory: Size = Field("2GB", description="memory, beyond which it spills")
    threads: int = Field(2, ge=1, description="threads of one connection")
    spill: Path | None = Field(
        None, description="folder to spill to; by default one in the folder of temporary files"
    )
    spill_size: Size = Field("20GB", description="most of it on disk")


class Channel(BaseModel):
    """Where notifications go: a command, a webhook or a folder."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    command: list[str] | None = Field(
        None,
        min_length=1,
        description="a program and its arguments, started in the project's folder; it reads the"
        " message, JSON, from standard input, and has delivered it if it ends with 0",
    )
    webhook: str | None = Field(
        None,
        repr=False,
        description="an address to which the message is sent by POST; an address that is a secret"
        " belongs into the variable `WEIR_NOTIFY__<NAME>__WEBHOOK`",
    )
    folder: Path | None = Field(
        None, description="a folder into which each message is written as a file"
    )
    select: list[str] = Field(
        default_factory=list,
        description="the answers that it is notified of, by"
        " [criteria](reference-commands.md#selection) as of `--select`; by default all",
    )
    rows: int = Field(20, ge=0, description="most rows of an answer in a message")
    seconds: float = Field(30, gt=0, le=3600, description="most that a delivery takes")
    environment: list[str] = Field(
        default_factory=list,
        description="variables that the command has beside HOME, LANG, LC_ALL, PATH, TZ and USER",
    )
    connection: str | None = Field(
        None, description="Airflow connection with the credentials of the webhook"
    )
    sign: bool = Field(
        False,
        description="the connection's password is not sent: `X-Weir-Signature` has the HMAC of the"
        " message by it",
    )
    allow: Networks = Field(
        default_factory=list,
        description="networks of the webhook that are not public, such as `10.0.0.0/8`",
    )
    ports: list[int] = Field(
        default_factory=list, description="ports of the webhook beside 80 and 443"
    )

    @model_validator(mode="after")
    def _is_one(self) -> Channel:
        ways = (self.command, self.webhook, self.folder)
        # None at all: the address may be in the environment of the process that notifies.
        if len([way for way in ways if way is not None]) > 1:
            raise ValueError("a channel has one of command, webhook and folder")
        if self.sign and self.connection is None:
            raise ValueError("sign needs a connection, whose password is the key")
        is_webhook = self.command is None and self.folder is None
        if not is_webhook and (self.connection or self.sign or self.allow or self.ports):
            raise ValueError("connection, sign, allow and ports are for a webhook")
        if self.command is None and self.environment:
            raise ValueError("environment is for a command")
        return self


class OpenLineage(BaseModel):
    """Where events of lineage go: a file or an endpoint; nowhere by default."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    file: Path | None = Field(
        None,
        description="file to which a run appends its [events of lineage](operations.md#lineage),"
        " one a line",
    )
    url: str | None = Field(
        None,
        repr=False,
        description="address to which it sends them instead, by POST, such as"
        " `https://lineage.example.org/api/v1/lineage`",
    )
    namespace: str | None = Field(
        None,
        min_length=1,
        description="namespace of the jobs; by default `weir.<project's folder>`",
    )
    seconds: float = Field(
        60, gt=0, le=3600, description="most that sending the events of a run takes"
    )
    connection: str | None = Field(
        None, description="Airflow connection with the credentials of the address"
    )
    allow: Networks = Field(
        default_factory=list,
        description="networks of the address that are not public, such as `10.0.0.0/8`",
    )
    ports: list[int] = Field(
        default_factory=list, description="ports of the address beside 80 and 443"
    )

    @model_validator(mode="after")
    def _is_one(self) -> OpenLineage:
        if self.file is not None and self.url is not None:
            raise ValueError("events go to one of file and url")
        return self


class Serve(BaseModel):
    """What [`weir serve`](endpoint.md) allows its clients."""

    model_config = ConfigDict(extra="forbid")

    query_seconds: float = Field(30, gt=0, description="time of one query of SPARQL")
    query_memory: Size = Field("1GB", description="memory of one query, and of the copy it reads")
    queries: int = Field(2, ge=1, description="queries that are evaluated at once")
    waiting: int = Field(32, ge=0, description="queries that wait; more are turned away")
    request_bytes: int = Field(1_000_000, ge=1, description="largest body of a request")
    result_bytes: int = Field(
        50_000_000, ge=1, description="largest result of a query; it is held in memory until sent"
    )
    epochs: int = Field(
        4, ge=1, description="copies of the graph that are kept in `cache`, the newest included"
    )
    event_rows: int = Field(1_000, ge=0, description="most rows of an event of `/changes`")
    readers: int = Field(100, ge=1, description="clients that follow `/changes` at once")


class Limits(BaseModel):
    """Thresholds; beyond them work is distributed, refused or cut into several batches."""

    model_config = ConfigDict(extra="forbid")

    driver_rows: int = Field(
        1_000_000,
        ge=0,
        description="rows of a relation that the driver computes with; 0: Spark does",
    )
    driver_table_bytes: int = Field(
        500_000_000, ge=0, description="size of a table up to which the driver reads it itself"
    )
    driver_scan_rows: int = Field(
        20_000_000,
        ge=0,
        description="rows of such a table up to which the driver also computes over all of it; "
        "beyond, it only looks rows up",
    )
    index_rows: int = Field(
        1_000_000, ge=0, description="rows from which a log has an index, if `index` is auto"
    )
    index_most_rows: int = Field(
        200_000_000, ge=0, description="rows beyond which it has none, if `index` is auto"
    )
    driver_parse_bytes: int = Field(
        16_000_000, ge=0, description="input bytes that the driver parses itself"
    )
    driver_parsed_bytes: int = Field(
        256_000_000,
        ge=0,
        description="bytes of the rows that parsing may give the driver; Spark parses what gives"
        " more, or more than `driver_rows` rows",
    )
    cache_bytes: int = Field(
        20_000_000_000,
        ge=0,
        description="bytes of files of an object store that are kept on this machine, in `cache`",
    )
    current_rows: int = Field(
        0,
        ge=0,
        description="rows of an answer up to which a [table `current/<name>`](types.md) is made of"
        " it by the driver, or a change is taken over into one; 0: there are no such tables."
        " `weir init` writes 100,000",
    )
    broadcast_rows: int = Field(
        20_000,
        ge=1,
        description="rows of a relation that Spark keeps in one partition or sends to every task",
    )
    bulk_share: float = Field(
        0.03,
        ge=0,
        description="changes, as a share of the graph's quads, beyond which no neighbourhood is "
        "looked up",
    )
    bulk_quads: int = Field(
        100_000, ge=0, description="quads below which all of a graph is read, and nothing looked up"
    )
    neighbourhood_rows: int = Field(
        2_000_000, ge=0, description="looked-up rows beyond which the whole graph is read"
    )
    task_bytes: int = Field(
        16_000_000, ge=1, description="input bytes that one Spark task parses, about"
    )
    parsed_batch_rows: int = Field(
        20_000, ge=1, description="parsed rows that a Spark task hands over at once"
    )
    literal_predicates: int = Field(
        64, ge=0, description="predicates looked up by literals, which let Delta skip files"
    )
    batch_epochs: int = Field(500, ge=1, description="change sets ingested by one commit")
    line_bytes: int = Field(1_048_576, ge=1024, description="longest input line")
    document_bytes: int = Field(
        2_147_483_648, ge=1024, description="largest Turtle, TriG, RDF/XML or JSON-LD document"
    )
    nesting: int = Field(256, ge=1, description="deepest nesting of a term or document")
    parse_seconds: int = Field(600, ge=1, description="CPU seconds of one parser process")
    parse_memory_mb: int = Field(3_000, ge=256, description="memory of one parser process")
    parallel_queries: int = Field(
        4,
        ge=1,
        description="statements of maintain, validate or publish that run at once",
    )
    parsed_rows: int = Field(
        100_000_000, ge=1, description="rows that one input file may give; more stop its source"
    )
    parsed_bytes: int = Field(
        20_000_000_000,
        ge=1,
        description="bytes of the rows that one input file may give; more stop its source",
    )
    parsed_memory_bytes: int = Field(
        64_000_000,
        ge=0,
        description="bytes of the rows of an input file that are held in memory; others are spooled"
        " to the folder of temporary files (`TMPDIR`)",
    )
    rejected_rows: int = Field(
        100_000,
        ge=0,
        description="rejected lines that one change set may have; more stop its source",
    )
    raw_bytes: int = Field(4096, ge=0, description="bytes of a rejected line that are kept")
    product_rows: int = Field(
        1_000_000, ge=1, description="rows of a cartesian product without allow_product"
    )
    query_seconds: float = Field(
        600,
        gt=0,
        description="time of one query in a run of maintain: what takes longer is ended, and the "
        "others go on",
    )
    query_memory: Size = Field(
        "1GB",
        description="memory of the values that one expression of a query gives at once, and of the "
        "process that matches its regular expressions; DuckDB's and Spark's memory are their own",
    )
    literal_length: int = Field(
        16_777_216,
        ge=1,
        description="characters of a literal that an expression or aggregate makes",
    )
    rstream_rows: int = Field(1_000_000, ge=1, description="elements that RSTREAM emits in one run")
    keep_epochs: int = Field(
        1_000, ge=0, description="newest epochs whose changes no compaction touches"
    )
    consolidate_share: float = Field(
        0.2, gt=0, le=1, description="share of a log that must go to make it worth rewriting"
    )
    file_bytes: int = Field(
        134_217_728, ge=1, description="size of the files that compaction merges small ones into"
    )
    # A row of a graph has about 10 bytes; many files of less than 16 MiB would be merged at once.
    rows_per_file: int = Field(
        2_000_000, ge=1, description="rows of a file of a log that Spark writes"
    )
    feed_log_days: int = Field(
        FEED_LOG_DAYS, ge=1, description="days that the commits of the logs are kept"
    )
    feed_file_days: int = Field(
        FEED_FILE_DAYS,
        ge=1,
        description="days that removed files of the logs are kept: queries that are further behind "
        "are recomputed",
    )
    lease_seconds: int = Field(
        300,
        ge=1,
        description="a run of another machine counts as dead so long after it renewed its claim, "
        "which it does six times in that time",
    )
    task_seconds: int = Field(21_600, ge=1, description="Airflow ends a task after this")

    @property
    def of_queries(self) -> dict[str, float | int | str]:
        """The limits of what computing one query may take, by name."""
        names = ("query_seconds", "query_memory", "literal_length")
        return {name: getattr(self, name) for name in names}

    @property
    def query_bytes(self) -> int:
        """`query_memory` in bytes."""
        return bytes_of(self.query_memory)


def bytes_of(size: str) -> int:
    """The bytes of a size such as `1.5 GB` or `512MiB`."""
    match = re.fullmatch(_SIZE, size)
    assert match is not None, "it was validated"
    base = 1024 if size.endswith("iB") else 1000
    return int(float(match["number"]) * base ** ("KMGT".index(match["unit"]) + 1))


class Settings(BaseSettings):
    """Where everything is and how it runs.

    Relative paths are relative to the folder of the configuration file.
    """

    model_config = SettingsConfigDict(
        env_prefix="WEIR_",
        env_nested_delimiter="__",
        extra="forbid",
        hide_input_in_errors=True,
    )

    lake: str = Field("lake_data", description="folder or object-store URI of the Delta tables")
    queries: Path = Field(Path("queries"), description="folder of the registered queries")
    programs: Path = Field(
        Path("programs"), description="folder of the registered programs; it need not exist"
    )
    shapes: Path = Field(
        Path("shapes"), description="folder of the [shapes graphs](shapes.md); it need not exist"
    )
    expectations: Path = Field(
        Path("expectations"),
        description="folder of the [checks of answers](checks.md); it need not exist",
    )
    tests: Path = Field(
        Path("tests"),
        description="folder of the [tests of queries](checks.md#tests-of-queries); it need not"
        " exist",
    )
    sources: Path = Field(Path("sources.yml"), description="the declared sources")
    remotes: Path = Field(
        Path("remotes.yml"), description="the declared remotes; it need not exist"
    )
    traversals: Path = Field(
        Path("traversals.yml"), description="the declared traversals; it need not exist"
    )
    cache: Path = Field(
        Path(".weir_cache"),
        description="folder of compiled queries and indexes, which may be lost at any time",
    )
    artifacts: Path | None = Field(
        None,
        description="folder into which a run writes what [catalogues](operations.md#catalogues)"
        " read, such as `target`; without it, only `weir artifacts` does",
    )
    site: Path | None = Field(
        None,
        description="folder into which a run writes the [site](site.md), such as `site`; without"
        " it, only `weir site` does",
    )
    metrics: Path | None = Field(
        None,
        description="file that a run replaces by [figures](operations.md#figures-for-monitors) in"
        " the text format of Prometheus, such as `weir.prom`; `weir metrics` prints them",
    )
    openlineage: OpenLineage = Field(default_factory=OpenLineage)
    index: Literal["auto", "on", "off"] = Field(
        "auto",
        description="whether the logs of the graph and of answers have an index in `cache`, by"
        " which the rows that changes can join with, or that change, are found without a scan",
    )
    storage_options: dict[str, str] = Field(
        default_factory=dict,
        repr=False,
        description="credentials of an object store, by the names of delta-rs; Spark has them, too",
    )
    prefixes: dict[str, str] = Field(
        default_factory=dict,
        description="IRIs by prefix, without its colon: `weir show` and `weir log` shorten by them,"
        " and by those that the query declares",
    )
    spark: SparkSettings = Field(default_factory=SparkSettings)
    duckdb: DuckDbSettings = Field(default_factory=DuckDbSettings)
    limits: Limits = Field(default_factory=Limits)
    serve: Serve = Field(default_factory=Serve)
    notify: dict[str, Channel] = Field(
        default_factory=dict, description="[channels of notifications](notifications.md), by name"
    )
    project: Path = Field(Path(), description="folder of the configuration file; set by `load`")

    @field_validator("*", mode="before")
    @classmethod
    def _has_no_nul(cls, value: object) -> object:
        if isinstance(value, str) and "\0" in value:
            raise ValueError("it has the character U+0000, which no path has")
        return value

    @field_validator("notify")
    @classmethod
    def _have_names(cls, channels: dict[str, Channel]) -> dict[str, Channel]:
        return {Name(name): channel for name, channel in channels.items()}

    @field_validator("prefixes")
    @classmethod
    def _are_prefixes(cls, prefixes: dict[str, str]) -> dict[str, str]:
        for prefix, iri in prefixes.items():
            if not re.fullmatch(r"([^\W\d_]([\w.-]*[\w-])?)?", prefix):
                raise ValueError(f"{prefix!r} is no prefix; write it without its colon")
            if not re.fullmatch(r"[A-Za-z][\w+.-]*:[^<>\"{}|^`\\\s]*", iri):
                raise ValueError(f"{prefix}: {iri!r} is no absolute IRI")
        return prefixes

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the environment, then the file."""
        del dotenv_settings, file_secret_settings
        content = InitSettingsSource(settings_cls, dict(_CONTENT.get()))
        return init_settings, env_settings, content

    @property
    def store(self) -> dict[str, str]:
        """The options of the store, also those of the environment, for processes on any machine."""
        return options_of_store(self.storage_options, os.environ)

    @property
    def documents(self) -> tuple[Document, ...]:
        """What a run writes at its end."""
        # In this order: the site says what is wrong where the others cannot be written.
        wanted: dict[Document, object] = {
            "site": self.site,
            "metrics": self.metrics,
            "artifacts": self.artifacts,
            "openlineage": self.openlineage.file or self.openlineage.url,
        }
        return tuple(name for name, place in wanted.items() if place is not None)

    @classmethod
    def load(cls, config: Path | None = None) -> Settings:
        """Read `config`, or `weir.toml` in this folder; without a file, the defaults.

        Standard error has a warning if the file has a secret and others can read it.

        Raises:
            ConfigurationError: `config` was given and is not there; not TOML; an unknown key or a
                wrong value.
        """
        if config is not None and not config.is_file():
            raise _no_file(config)
        try:
            file = (config or Path(CONFIG_FILE)).absolute()
            return cls.of_content(file, _toml(file))
        except RecursionError:
            raise ConfigurationError(
                "values are nested too deeply", "WEIR_* variables", "Correct it and try again."
            ) from None
        except SettingsError as error:
            # Its cause has the value, which may be a secret.
            raise ConfigurationError(
                f"{error}: not JSON", "WEIR_* variables", "Correct it and try again."
            ) from None
        except ValidationError as error:
            wrong = "; ".join(map(wrong_setting, error.errors()))
            where = f"{(config or Path(CONFIG_FILE)).absolute()} or WEIR_* variables"
            raise ConfigurationError(wrong, where, "Correct it and try again.") from error

    @classmethod
    def of_content(cls, file: Path, content: Mapping[str, Any]) -> Settings:
        """The settings of a configuration file with this content.

        Raises:
            ValidationError: a value of it or of the environment is wrong.
        """
        folder = file.parent
        # Not by a class with this content: making it takes as long as all the rest.
        before = _CONTENT.set(content)
        try:
            read = cls(project=folder)
        finally:
            _CONTENT.reset(before)
        _warn_of_exposure(file, content)
        # delta-rs reads variables of stores itself.
        variables = {
            name: value for name, value in os.environ.items() if name.startswith(_OF_STORES)
        }
        options = {**variables, **read.storage_options}
        hide(value for name, value in options.items() if is_secret(name))
        lake = read.lake if "://" in read.lake else str(folder / read.lake)
        return cls.model_construct(
            **{
                **{name: getattr(read, name) for name in cls.model_fields},
                "lake": lake,
                "queries": folder / read.queries,
                "programs": folder / read.programs,
                "shapes": folder / read.shapes,
                "expectations": folder / read.expectations,
                "tests": folder / read.tests,
                "sources": folder / read.sources,
                "remotes": folder / read.remotes,
                "traversals": folder / read.traversals,
                "cache": folder / read.cache,
                "artifacts": None if read.artifacts is None else folder / read.artifacts,
                "metrics": None if read.metrics is None else folder / read.metrics,
                "site": None if read.site is None else folder / read.site,
            }
        )


def _no_file(config: Path) -> ConfigurationError:
    if not config.is_dir():
        what = "it is not a file" if config.exists() else "there is no such configuration file"
        return ConfigurationError(what, str(config), "`weir init` writes one.")
    file = config / CONFIG_FILE
    hint = f"Name its file: --config {file}" if file.is_file() else f"It has no {CONFIG_FILE}."
    return ConfigurationError("it is a folder, not a configuration file", str(config), hint)


def _toml(file: Path) -> dict[str, Any]:
    """The content of a configuration file; nothing if there is none.

    Raises:
        ConfigurationError: it cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(read_text(file))
    except FileNotFoundError:
        return {}
    except RecursionError:
        what = "values are nested too deeply"
    except ValueError as error:
        # Also for correct TOML: Python refuses a number of 5,000 digits.
        what = str(error).partition(";")[0]
    at = re.fullmatch(r"(?P<what>.*) \(at line (?P<line>\d+), column (?P<column>\d+)\)", what)
    where = f"{file}:{at['line']}:{at['column']}" if at else str(file)
    what = at["what"] if at else what
    raise ConfigurationError(f"not TOML: {what}", where, "Correct it and try again.")


def _warn_of_exposure(file: Path, content: Mapping[str, Any]) -> None:
    """Warn if others can read a secret in a configuration file."""
    if not file.is_file() or not is_readable_by_others(file):
        return
    options = content.get("storage_options", {})
    if secrets := [key for key in options if is_secret(key)]:
        text = (
            f"warning: {file} has a secret (storage_options: {', '.join(secrets)}), and others can"
            f" read it: `chmod 600 {file}`"
        )
        print(printable(text), file=sys.stderr, flush=True)


def wrong_setting(error: ErrorDetails) -> str:
    """A setting and what is wrong with it, without its value, which may be a secret."""
    key = ".".join(map(str, error["loc"]))
    return f"{key}: {_what(error)}"


def _what(error: ErrorDetails) -> str:
    if error["type"] != "extra_forbidden":
        return reason(error, is_secret=True)
    *above, key = error["loc"]
    renamed = _RENAMED.get(str(key).lower())
    if renamed:
        return f"no such setting; it is now called {renamed}"
    similar = meant(str(key), keys_at(Settings, above)).strip()
    return "no such setting" + (f". {similar}" if similar else "")

"""The site in a real browser, from files: what a reader sees, and that nothing in data runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.browser import CHROMIUM, browser
from tests.site.browser import opened
from tests.support.projects.museum import HOSTILE, Museum
from tests.support.serving import serving
from weir.project import Project
from weir.settings import CONFIG_FILE, Settings
from weir.site.writing import write_site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="this machine has no Chromium"),
    pytest.mark.usefixtures("slow"),
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a museum with 30 exhibits, a held answer, and markup in every field."""
    museum = Museum(tmp_path_factory.mktemp("museum"), exhibits=40)
    quoted = json.dumps(HOSTILE)
    (museum.folder / "queries/hostile.rq").write_text(
        f"#+ description: {quoted}\n#+ owner: {quoted}\n#+ tags: [{quoted}]\n"
        f"# {HOSTILE}\nSELECT ?title {{ ?e <http://example.org/title> ?title }}"
    )
    museum.live(4)
    museum.exhibits[3]["title"] = HOSTILE
    museum.exhibits[4]["insured"] = -5
    museum.exhibits[5]["lent_to"] = "getty"
    museum.live(1)
    write_site(Project(Settings.load(museum.folder / CONFIG_FILE)))
    return museum.folder / "site"


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(params=["index", "answers/exhibits", "answers/rooms", "graph", "runs", "checks"])
def some_page(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 360])
def test_a_page_shows_without_errors_requests_or_scrolling_sideways(
    running: Browser, pages: Path, some_page: str, width: int, scheme: str
) -> None:
    page, wrong = opened(
        running, pages / f"{some_page}.html", width, "dark" if scheme == "dark" else "light"
    )
    page.wait_for_timeout(300)
    assert wrong == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_the_start_page_says_what_is_wrong_and_what_changed(running: Browser, pages: Path) -> None:
    page, _ = opened(running, pages / "index.html")
    assert page.locator(".verdict").inner_text().endswith("1 thing needs attention: 1 held back.")
    assert "insured_is_positive" in page.locator(".problems").inner_text()
    assert page.locator(".latest h3").first.inner_text().startswith("register: 005.ttl")
    assert page.locator("[data-answers] .tabulator-row").count() == 4
    page.close()


def test_the_table_of_an_answer_is_filtered_sorted_and_paged(running: Browser, pages: Path) -> None:
    page, _ = opened(running, pages / "answers/exhibits.html")
    table = page.locator("[data-rows]")
    assert "1-25 of 40" in table.locator(".tabulator-footer").inner_text()
    table.locator("input").nth(1).press_sequentially("vase")
    page.wait_for_timeout(500)
    titles = [cell.lower() for cell in table.locator(".tabulator-row").all_inner_texts()]
    assert titles
    assert all("vase" in title for title in titles)
    page.close()


def test_numbers_are_sorted_as_numbers(running: Browser, pages: Path) -> None:
    page, _ = opened(running, pages / "answers/exhibits.html")
    table = page.locator("[data-rows]")
    table.locator(".tabulator-col-title", has_text="insured").click()
    page.wait_for_timeout(300)
    cells = table.locator(".tabulator-cell[tabulator-field='3']").all_inner_texts()
    numbers = [int(cell.replace(",", "")) for cell in cells]
    assert numbers == sorted(numbers)
    page.close()


def test_the_slider_goes_through_the_history(running: Browser, pages: Path) -> None:
    page, _ = opened(running, pages / "answers/loans.html")
    history = page.locator("[data-history]")
    assert history.locator("output").inner_text().endswith("register: 005.ttl")
    assert "getty" in history.locator(".appeared").inner_text()
    history.get_by_role("button", name="earlier").click()
    assert "getty" not in history.locator(".appeared").inner_text()
    history.locator("input").focus()
    page.keyboard.press("End")
    assert "getty" in history.locator(".appeared").inner_text()
    page.close()


def test_an_answer_is_found_by_its_description_with_the_keyboard_alone(
    running: Browser, pages: Path
) -> None:
    page, _ = opened(running, pages / "checks.html")
    page.keyboard.press("/")
    page.keyboard.type("lent whom")
    assert page.locator("#hits a").all_inner_texts() == [
        "loans\nObjects that are lent, and to whom."
    ]
    page.keyboard.press("Enter")
    page.wait_for_url("**/answers/loans.html")
    page.close()


def test_a_failed_check_shows_the_rows(running: Browser, pages: Path) -> None:
    page, _ = opened(running, pages / "answers/exhibits.html")
    checks = page.locator(".checks").inner_text()
    assert "Nothing is insured for less than nothing." in checks
    assert '"-5"' in checks
    page.close()


def test_charts_and_lineage_are_drawn(running: Browser, pages: Path) -> None:
    page, _ = opened(running, pages / "answers/exhibits.html")
    page.wait_for_selector("[data-chart=rows] svg")
    page.wait_for_selector("[data-chart=changes] svg")
    assert page.locator("[data-graph=lineage] canvas").count() > 0
    said = page.locator("[data-graph=lineage]").get_attribute("aria-label") or ""
    assert sorted(said.split(", ")) == ["exhibits reads the graph", "the graph reads register"]
    page.close()


@pytest.mark.parametrize(
    "path", ["index", "answers/hostile", "answers/exhibits", "runs", "checks", "sources"]
)
def test_no_script_in_data_runs(running: Browser, pages: Path, path: str) -> None:
    page, wrong = opened(running, pages / f"{path}.html")
    before = page.title()
    page.locator("#search").fill("script")
    _filter_all(page)
    page.wait_for_timeout(400)
    assert page.title() == before != "run"
    assert page.locator("img").count() == 0
    assert wrong == []
    page.close()


def _filter_all(page: Page) -> None:
    for place in page.locator(".tabulator-header-filter input").all()[:3]:
        if place.is_editable():
            place.press_sequentially("script")


def test_every_control_has_a_name(running: Browser, pages: Path, some_page: str) -> None:
    page, _ = opened(running, pages / f"{some_page}.html")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("a, button, input:not(.tabulator *), h1, h2")]
          .filter((e) => !(e.textContent.trim() || e.ariaLabel || e.placeholder || e.title))
          .map((e) => e.outerHTML)"""
    )
    assert nameless == []
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(running: Browser, pages: Path, scheme: str) -> None:
    page, _ = opened(running, pages / "index.html", scheme="dark" if scheme == "dark" else "light")
    ratios = page.evaluate(
        """() => {
          const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map((v) => {
            v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
            return .2126 * r + .7152 * g + .0722 * b; };
          const ground = (e) => { for (; e; e = e.parentElement) {
            const c = getComputedStyle(e).backgroundColor;
            if (!/, 0\\)$/.test(c)) return c; } return "rgb(255, 255, 255)"; };
          return [...document.querySelectorAll("main *, header *, footer *")]
            .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
            .filter((e) => e.checkVisibility())
            .map((e) => { const [a, b] = [light(getComputedStyle(e).color), light(ground(e))];
              const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
              return [ratio, e.className, e.textContent.slice(0, 30)]; })
            .filter(([ratio]) => ratio < 4.5); }"""
    )
    assert ratios == []
    page.close()


def test_the_reasons_for_the_newest_changes_are_on_a_page_if_they_are_wanted(
    running: Browser, pages: Path, tmp_path: Path
) -> None:
    project = Project(Settings.load(pages.parent / CONFIG_FILE))
    write_site(project, tmp_path / "explained", explains=True)
    page, wrong = opened(running, tmp_path / "explained/answers/loans.html")
    why = page.locator(".why").inner_text()
    assert "because of" in why
    assert "lent_to" in why
    page.get_by_role("button", name="earlier").click()
    assert page.locator(".why").inner_text() == ""
    assert wrong == []
    page.close()


def test_a_server_explains_rows_when_it_is_asked(running: Browser, pages: Path) -> None:
    settings = Settings.load(pages.parent / CONFIG_FILE)
    with serving(settings, site=pages) as client:
        page = running.new_page()
        page.goto(f"{client.url}/answers/loans.html")
        page.get_by_role("button", name="Why?").click()
        page.wait_for_selector(".why .change", timeout=60_000)
        assert "lent_to" in page.locator(".why").inner_text()
        page.close()

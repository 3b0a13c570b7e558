/* What pages do in the browser. All values come from data files and are put into the page as text,
   never as markup. */
"use strict";
const weir = (() => {
  let site = null;
  let page = {};
  const root = document.body.dataset.root;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  /* Times ------------------------------------------------------------------------------------ */
  const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const ago = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
  const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];

  const timeText = (at) => {
    const time = new Date(at);
    const seconds = (time - Date.now()) / 1000;
    const [unit, size] = UNITS.find(([, least]) => Math.abs(seconds) >= least) ?? ["second", 1];
    const days = Math.abs(seconds) / 86400;
    return days > 14 ? clock.format(time) : ago.format(Math.round(seconds / size), unit);
  };
  const timed = (made) => {
    made.title = clock.format(new Date(made.dateTime));
    made.textContent = timeText(made.dateTime);
    return made;
  };
  const timeElement = (at) => timed(element("time", { datetime: at }));

  /* Terms ------------------------------------------------------------------------------------ */
  const shortened = (iri) => {
    let best = null;
    for (const [prefix, begin] of Object.entries(page.prefixes ?? {})) {
      if (iri.startsWith(begin) && /^[\w][\w.-]*$/.test(iri.slice(begin.length))) {
        if (best === null || begin.length > best[1].length) best = [prefix, begin];
      }
    }
    return best === null ? iri : `${best[0]}:${iri.slice(best[1].length)}`;
  };
  const cellText = (value) => {
    if (value === null || value === undefined) return "";
    if (Array.isArray(value)) return value.length === 1 ? shortened(value[0]) : value[0];
    // As it is in the answer: a year has no separators, and no digit is left out.
    return String(value);
  };
  const cellNode = (value) => {
    if (Array.isArray(value) && value.length === 1 && /^https?:\/\//i.test(value[0])) {
      const link = element("a", { href: value[0], rel: "noopener noreferrer", title: value[0] });
      link.textContent = shortened(value[0]);
      return link;
    }
    const text = document.createElement("span");
    text.textContent = cellText(value);
    if (Array.isArray(value) && value.length === 2) {
      const language = element("span", { class: "language" });
      language.textContent = ` ${value[1]}`;
      text.append(language);
    }
    return text;
  };

  /* Tables ----------------------------------------------------------------------------------- */
  const compared = (a, b) => {
    if (a === null || a === undefined) return b === null || b === undefined ? 0 : -1;
    if (b === null || b === undefined) return 1;
    const [left, right] = [Number(a), Number(b)];
    if (!Array.isArray(a) && !Array.isArray(b) && !Number.isNaN(left) && !Number.isNaN(right)) return left - right;
    return cellText(a).localeCompare(cellText(b));
  };
  const titled = (cell) => {
    const text = document.createElement("span");
    text.textContent = cell.getValue();
    return text;
  };
  const column = (title, field, more = {}) => ({
    title, field, sorter: compared, titleFormatter: titled,
    formatter: (cell) => cellNode(cell.getValue()), ...more,
  });
  const filtered = (wanted, value) => cellText(value).toLowerCase().includes(String(wanted).toLowerCase());
  const table = (into, rows, columns, size = 25) => new Tabulator(into, {
    data: rows, columns, layout: "fitColumns", pagination: rows.length > size,
    paginationSize: size, paginationSizeSelector: [25, 100, 500], paginationCounter: "rows",
    placeholder: "No rows", columnDefaults: { minWidth: 90, resizable: true, headerWordWrap: true },
    responsiveLayout: false, nestedFieldSeparator: false,
  });

  const answerLink = (name) => {
    if (!site.answers.some((answer) => answer.page && answer.name === name)) return cellNode(name);
    const made = element("a", { href: `${root}answers/${name}.html` });
    made.textContent = name;
    return made;
  };
  const badge = (cell) => {
    const made = element("span", { class: `badge ${cell.getValue()}` });
    made.textContent = cell.getValue();
    return made;
  };

  const answerRows = (into) => {
    const weights = page.weights ?? [];
    const rows = page.rows.map((row, at) => ({ ...row, weight: weights[at] }));
    const search = rows.length > 10 ? { headerFilter: "input", headerFilterFunc: filtered, headerFilterPlaceholder: "filter" } : {};
    const columns = page.columns.map((head, at) => column(head.name, String(at), {
      ...search, headerTooltip: head.comment || false, ...(head.numeric ? { hozAlign: "right", headerHozAlign: "right" } : {}),
    }));
    if (weights.length) columns.push(column("copies", "weight", { hozAlign: "right" }));
    if (!columns.length) into.textContent = page.total ? "yes" : "no";
    else table(into, rows, columns);
  };

  const plainTable = (into) => {
    const rows = page[into.dataset.table] ?? [];
    const names = Object.keys(rows[0] ?? {});
    const isTime = (name) => name === "at" || name.endsWith("_at");
    table(into, rows, names.map((name) => column(name.replaceAll("_", " "), name, {
      headerFilter: "input", headerFilterFunc: filtered, headerFilterPlaceholder: "filter",
      ...(rows.some((row) => typeof row[name] === "number") ? { hozAlign: "right", headerHozAlign: "right" } : {}),
      ...(/reason|failed/.test(name) ? { widthGrow: 3, minWidth: 220 } : {}),
      ...(name === "answer" ? { formatter: (cell) => answerLink(cell.getValue()) } : {}),
      ...(name === "status" ? { formatter: badge } : {}),
      ...(isTime(name) ? { minWidth: 130, formatter: (cell) => cell.getValue() ? timeElement(cell.getValue()) : "" } : {}),
    })), 50);
  };

  const answerList = (into) => {
    const states = [...new Set(site.answers.map((answer) => answer.state))];
    const search = { headerFilter: "input", headerFilterFunc: filtered, headerFilterPlaceholder: "filter" };
    table(into, site.answers, [
      column("name", "name", { formatter: (cell) => answerLink(cell.getValue()), ...search, minWidth: 140 }),
      column("state", "state", { formatter: badge, width: 110, headerFilter: "list", headerFilterParams: { values: ["", ...states] } }),
      column("rows", "rows", { hozAlign: "right", headerHozAlign: "right", width: 100 }),
      column("last changed", "changed", { formatter: (cell) => cell.getValue() ? timeElement(cell.getValue()) : "", minWidth: 190 }),
      column("description", "description", { ...search, widthGrow: 3, minWidth: 200 }),
      column("owner", "owner", { ...search, minWidth: 110 }),
    ], 50);
  };

  /* Charts ----------------------------------------------------------------------------------- */
  const chart = (into) => {
    const specification = (page.charts ?? {})[into.dataset.chart];
    if (!specification) return;
    const colour = dark ? "#9aa5b1" : "#59636e";
    const line = dark ? "#30363d" : "#d8dee4";
    const axis = { labelColor: colour, titleColor: colour, gridColor: line, domainColor: line, tickColor: line };
    vegaEmbed(into, specification, {
      mode: "vega-lite", actions: false, ast: true, renderer: "svg",
      config: { background: null, font: "system-ui, sans-serif", view: { stroke: null }, axis, legend: { labelColor: colour, titleColor: colour }, title: { color: colour } },
    });
  };

  /* History ---------------------------------------------------------------------------------- */
  const changedTable = (title, rows) => {
    const made = element("div");
    const heading = document.createElement("h3");
    heading.textContent = title;
    made.append(heading);
    if (!rows.length) return made;
    const body = document.createElement("tbody");
    for (const row of rows) {
      const line = document.createElement("tr");
      for (const value of row) line.append(element("td", {}, cellNode(value)));
      body.append(line);
    }
    const head = document.createElement("tr");
    for (const name of page.history.variables) {
      const cell = element("th", { scope: "col" });
      cell.textContent = name;
      head.append(cell);
    }
    made.append(element("div", { class: "wide" }, element("table", {}, element("thead", {}, head), body)));
    return made;
  };
  /* Why ---------------------------------------------------------------------------------------- */
  const termNode = (term) => {
    if (term.startsWith("<")) return cellNode([term.slice(1, -1)]);
    const typed = /^"(.*)"\^\^<.*>$/s.exec(term);
    return cellNode(typed ? typed[1] : term);
  };
  const tripleNode = (triple, sign = "") => {
    const line = document.createElement("li");
    line.append(sign, termNode(triple.subject), " ", termNode(triple.predicate), " ", termNode(triple.object));
    if (triple.graph) line.append(" in ", termNode(triple.graph));
    return line;
  };
  const titledList = (title, lines) => {
    const heading = document.createElement("p");
    heading.textContent = title;
    return [heading, element("ul", { class: "rows" }, ...lines)];
  };
  const explained = (into, why) => {
    const made = why.rows.map((row) => {
      const block = element("div", { class: "change" });
      const head = element("p", { class: row.weight > 0 ? "plus" : "minus" }, row.weight > 0 ? "+ " : "− ");
      Object.values(row.row).filter(Boolean).forEach((term, at) => head.append(at ? " · " : "", termNode(term)));
      block.append(head, ...titledList(row.changes.length ? "because of" : "It needs no triple of the graph.",
        row.changes.map((change) => tripleNode(change, change.weight > 0 ? "+ " : "− "))));
      if (row.match?.length) block.append(...titledList("with", row.match.map((triple) => tripleNode(triple))));
      return block;
    });
    into.replaceChildren(...made);
  };
  const reasons = (epoch) => {
    const into = element("div", { class: "why" });
    if (page.why?.epoch === epoch) {
      const heading = document.createElement("h3");
      heading.textContent = "Why";
      const body = document.createElement("div");
      explained(body, page.why);
      into.append(heading, body);
    } else if (location.protocol.startsWith("http") && page.explained) {
      const ask = element("button", { type: "button" });
      ask.textContent = "Why?";
      ask.addEventListener("click", async () => {
        ask.disabled = true;
        const body = element("div", { role: "status" });
        into.replaceChildren(ask, body);
        try {
          const reply = await fetch(`${root}why/${page.name}?epoch=${epoch}`);
          // Other servers have the pages, and cannot explain.
          const isOurs = /json/.test(reply.headers.get("content-type")) && (reply.ok || /problem/.test(reply.headers.get("content-type")));
          const said = isOurs ? await reply.json() : null;
          if (said === null) body.textContent = "This server has only the pages: weir serve explains rows.";
          else if (reply.ok) explained(body, said);
          else body.textContent = said.detail ?? said.title;
        } catch (error) {
          body.textContent = String(error);
        }
        ask.disabled = false;
      });
      into.append(ask);
    }
    return into;
  };
  const history = (into) => {
    const { epochs, changes } = page.history;
    if (!epochs.length) return;
    const slider = element("input", { type: "range", min: 0, max: epochs.length - 1, step: 1, "aria-label": "Epoch" });
    const said = document.createElement("output");
    const earlier = element("button", { type: "button" });
    earlier.textContent = "← earlier";
    const later = element("button", { type: "button" });
    later.textContent = "later →";
    const beside = element("div", { class: "beside" });
    const why = document.createElement("div");
    const show = () => {
      const [epoch, appeared, vanished, at, cause] = epochs[Number(slider.value)];
      said.replaceChildren(`Epoch ${epoch}, `, at ? `${clock.format(new Date(at))}, ` : "", at ? timeElement(at) : "", cause ? `, ${cause}` : "");
      const rows = changes.filter(([of]) => of === epoch);
      const plus = rows.filter(([, weight]) => weight > 0).map(([, , row]) => row);
      const minus = rows.filter(([, weight]) => weight < 0).map(([, , row]) => row);
      const note = (shown, number) => shown < number ? ` (${shown} shown)` : "";
      beside.replaceChildren(
        changedTable(`${appeared.toLocaleString()} appeared${note(plus.length, appeared)}`, plus),
        changedTable(`${vanished.toLocaleString()} vanished${note(minus.length, vanished)}`, minus));
      beside.classList.toggle("alone", !plus.length || !minus.length);
      beside.firstChild.classList.add("appeared");
      beside.lastChild.classList.add("vanished");
      why.replaceChildren(reasons(epoch));
      earlier.disabled = slider.value === slider.min;
      later.disabled = slider.value === slider.max;
    };
    const step = (by) => { slider.value = Number(slider.value) + by; show(); };
    slider.value = epochs.length - 1;
    slider.addEventListener("input", show);
    earlier.addEventListener("click", () => step(-1));
    later.addEventListener("click", () => step(1));
    into.append(element("div", { class: "slider" }, earlier, slider, later, said), beside, why);
    show();
  };

  /* Lineage ---------------------------------------------------------------------------------- */
  const lines = (node) => node.data("label").split("\n");
  const graph = (into) => {
    const { nodes, edges } = page[into.dataset.graph];
    const [text, line, raised] = dark ? ["#e6edf3", "#58626c", "#161b22"] : ["#1b1f24", "#b4bcc4", "#f6f8fa"];
    const drawn = cytoscape({
      container: into, userZoomingEnabled: false, boxSelectionEnabled: false, autoungrabify: true,
      elements: [
        ...nodes.map((node) => ({ data: node })),
        ...edges.map(([source, target]) => ({ data: { id: `${source} ${target}`, source, target } })),
      ],
      style: [
        { selector: "node", style: { label: "data(label)", "text-wrap": "wrap", "text-max-width": 220, color: text, "background-color": raised, "border-width": 1, "border-color": line, shape: "round-rectangle", width: (node) => 18 + 7.6 * Math.min(29, Math.max(...lines(node).map((line) => line.length))), height: (node) => 18 + 16 * lines(node).reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / 29)), 0), "text-valign": "center", "font-size": 13 } },
        { selector: "node[kind = 'this']", style: { "border-width": 3, "border-color": dark ? "#79b8ff" : "#3b6ea8", "font-weight": "bold" } },
        { selector: "edge", style: { width: 1.5, "line-color": line, "target-arrow-color": line, "target-arrow-shape": "triangle", "curve-style": "bezier" } },
      ],
      layout: { name: "dagre", rankDir: innerWidth < 640 ? "TB" : "LR", nodeSep: 14, rankSep: 50, fit: true, padding: 16 },
    });
    // As high as what is drawn, at the size that its width allows.
    const box = drawn.elements().boundingBox();
    const size = Math.min(1.1, (into.clientWidth - 32) / box.w);
    into.style.height = `${Math.min(480, Math.max(70, box.h * size + 32))}px`;
    drawn.resize();
    drawn.fit(undefined, 16);
    if (drawn.zoom() > 1.1) { drawn.zoom(1.1); drawn.center(); }
    drawn.on("tap", "node", ({ target }) => { if (target.data("href")) location.href = root + target.data("href"); });
    // The picture alone would say nothing to who cannot see it.
    const names = Object.fromEntries(nodes.map((node) => [node.id, node.label]));
    into.setAttribute("role", "img");
    into.setAttribute("aria-label", edges.map(([a, b]) => `${names[b]} reads ${names[a]}`).join(", ") || "nothing");
  };

  /* Search ----------------------------------------------------------------------------------- */
  const searched = (answer) => [answer.name, answer.description, answer.owner, ...answer.tags, ...answer.columns].join(" ").toLowerCase();
  const search = () => {
    const [input, hits] = [document.getElementById("search"), document.getElementById("hits")];
    const texts = site.answers.map(searched);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const isCalled = ({ name }) => words.every((word) => name.toLowerCase().includes(word));
      const matching = site.answers.filter((answer, at) => answer.page && words.every((word) => texts[at].includes(word)));
      matching.sort((a, b) => isCalled(b) - isCalled(a));
      hits.replaceChildren(...matching.slice(0, 12).map((answer) => {
        const link = element("a", { href: `${root}answers/${answer.name}.html` });
        const about = document.createElement("small");
        about.textContent = answer.description;
        link.append(answer.name, about);
        return element("li", {}, link);
      }));
      if (!matching.length) {
        const none = document.createElement("li");
        none.textContent = "No answer is like that.";
        hits.append(none);
      }
      hits.hidden = !words.length;
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { input.value = ""; hits.hidden = true; }
      if (event.key === "Enter") hits.querySelector("a")?.click();
      if (event.key === "ArrowDown") { event.preventDefault(); hits.querySelector("a")?.focus(); }
    });
    document.addEventListener("keydown", (event) => {
      const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName);
      if (event.key === "/" && !isTyping) { event.preventDefault(); input.focus(); }
    });
  };

  const each = (selector, render) => {
    for (const into of document.querySelectorAll(selector)) render(into);
  };
  document.addEventListener("DOMContentLoaded", () => {
    each("time", timed);
    each("[data-project]", (into) => { into.textContent = site.project; });
    each("[data-as-of]", (into) => { into.replaceChildren(timeElement(site.at), site.epoch ? `, epoch ${site.epoch.toLocaleString()}` : ""); });
    search();
    each("[data-answers]", answerList);
    each("[data-rows]", answerRows);
    each("[data-table]", plainTable);
    each("[data-chart]", chart);
    each("[data-history]", history);
    each("[data-graph]", graph);
  });

  return { site: (value) => { site = value; }, page: (value) => { page = value; } };
})();

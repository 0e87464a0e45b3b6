/* The explorer of the spuriousness page: a list of questions with filters, and the one chosen, named by the address:
   #q=QUESTION&scheme=SCHEME. Text of the data enters the page as text nodes only. */

const PAGE = 100; // questions listed at a time
const byId = (id) => document.getElementById(id);
const find = byId("find");
const filters = { scheme: byId("filter-scheme"), kind: byId("filter-kind"), status: byId("filter-status") };
const list = byId("questions");
const shown = byId("question");

let index; // { schemes, judges, predicate: its relation in a table, questions }
let listed = []; // places in index.questions that the filters leave
let page = 0;
let chosen = null; // { place, scheme }
const blocks = new Map(); // number of a block -> promise of its passages

/** An element with attributes (true: empty, null or false: none) and children: nodes, or text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null));
  return element;
}

/** The JSON in an element: base64 of gzip. */
async function unpack(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function block(number) {
  if (!blocks.has(number)) blocks.set(number, unpack(byId(`block-${number}`)));
  return blocks.get(number);
}

function count(number, noun) {
  const plural = noun.endsWith("s") ? "es" : "s";
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : plural}`;
}

/* ---- The list ---- */

function statusOf(pair) {
  if (pair === null) return null;
  const [kept, classes] = pair;
  return classes === 0 ? "none" : kept === 0 ? "dropped" : "kept";
}

function matches([id, text, answer, kind, , , status], words) {
  if (filters.kind.value && kind !== filters.kind.value) return false;
  const scheme = index.schemes.indexOf(filters.scheme.value);
  const found = (scheme < 0 ? status : [status[scheme]]).map(statusOf).filter((one) => one !== null);
  if (!found.length || (filters.status.value && !found.includes(filters.status.value))) return false;
  const hay = `${id}\n${text}\n${answer}`.toLowerCase();
  return words.every((word) => hay.includes(word));
}

function applyFilters() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  listed = [...index.questions.keys()].filter((place) => matches(index.questions[place], words));
  page = chosen && listed.includes(chosen.place) ? Math.floor(listed.indexOf(chosen.place) / PAGE) : 0;
  showList();
  byId("found").textContent = `${listed.length.toLocaleString("en")} of ${count(index.questions.length, "question")}`;
}

function showList() {
  const start = page * PAGE;
  const places = listed.slice(start, start + PAGE);
  list.replaceChildren(...places.map(listItem));
  list.scrollTop = 0;
  const last = start + places.length;
  byId("range").textContent = places.length ? `${start + 1} to ${last}` : "none";
  byId("previous").disabled = page === 0;
  byId("next").disabled = last >= listed.length;
}

function listItem(place) {
  const [, text, answer, kind, , , status] = index.questions[place];
  const notes = status.map((pair, at) => {
    if (pair === null) return null;
    const [kept, classes] = pair;
    return `${index.schemes[at]} ${classes ? `${kept} of ${classes} kept` : "no form"}`;
  });
  const link = make("a", { href: address(place), "aria-current": chosen?.place === place ? "true" : null },
    text, make("small", {}, [`${answer} (${kind})`, ...notes.filter(Boolean)].join(" · ")));
  link.dataset.place = place;
  return make("li", {}, link);
}

const linkTo = (place) => list.querySelector(`a[data-place="${place}"]`);

function turn(pages) {
  page += pages;
  showList();
}

/* ---- The address ---- */

function address(place, scheme = null) {
  const parts = new URLSearchParams({ q: index.questions[place][0] });
  if (scheme) parts.set("scheme", scheme);
  return `#${parts}`;
}

function follow() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const place = index.questions.findIndex(([id]) => id === parts.get("q"));
  if (place >= 0) {
    choose(place, parts.get("scheme"));
  } else if (parts.has("q")) {
    chosen = null;
    shown.replaceChildren(make("p", { role: "alert" }, `This page has no question ${parts.get("q")}.`));
  }
}

/** Show a question; without a scheme that it has, in the one of the filter, or else in its first. */
async function choose(place, scheme) {
  const [, , , , number, inBlock, status] = index.questions[place];
  const has = index.schemes.filter((_, at) => status[at] !== null);
  const wanted = [scheme, filters.scheme.value].find((one) => has.includes(one)) ?? has[0];
  const before = chosen?.place;
  chosen = { place, scheme: wanted };
  if (!linkTo(place) && listed.includes(place)) {
    page = Math.floor(listed.indexOf(place) / PAGE);
    showList();
  }
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  linkTo(place)?.setAttribute("aria-current", "true");
  if (before !== place) linkTo(place)?.scrollIntoView({ block: "nearest" });
  const passage = (await block(number))[inBlock];
  if (chosen?.place !== place || chosen.scheme !== wanted) return; // another was chosen meanwhile
  const inTabs = document.activeElement.closest(".tabs") !== null;
  showQuestion(index.questions[place], passage, has, wanted);
  if (inTabs) shown.querySelector(".tabs [aria-current]").focus();
}

/* ---- The chosen question ---- */

function showQuestion([id, text, answer, kind, , , status], passage, schemes, scheme) {
  const stored = passage.questions[id][scheme];
  const found = { ...stored, copies: stored.copies.map((place) => passage.copies[place]) };
  const rows = passage.tables[scheme] ?? null;
  const paragraph = make("p", { class: "paragraph" });
  const table = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The table" });
  const against = make("div", {});

  const mark = (number) => {
    const cells = found.classes[number]?.cells ?? [];
    paragraph.replaceChildren(...marked(passage.text, [0, passage.text.length], cells));
    table.replaceChildren(rows ? tableOf(passage.text, rows, cells) : "The cache no longer has this table.");
    against.replaceChildren(...apart(found, number, passage.text, rows));
  };

  const tabs = schemes.map((name) =>
    make("a", { href: address(chosen.place, name), "aria-current": name === scheme ? "true" : null }, name));
  const group = { class: "tabs", role: "group", "aria-label": "Scheme" };
  const parts = [
    make("h3", { id: "question-title", tabindex: "-1" }, text),
    make("p", {}, "Answer: ", make("strong", {}, answer), ` (${kind}). `,
      make("span", { class: "quiet" }, `Question ${id}, passage ${passage.id}.`)),
    ...(schemes.length > 1 ? [make("p", group, tabs.flatMap((tab) => [tab, " "]))] : []),
    make("p", {}, summaryOf(found, status[index.schemes.indexOf(scheme)])),
    make("h4", {}, "Paragraph"), paragraph,
    ...(found.classes.length ? [make("h4", {}, "Classes of forms"), classesOf(found, mark), against] : []),
    make("details", { open: true }, make("summary", {}, rows ? `Table: ${count(rows.length, "row")}` : "Table"), table),
  ];
  shown.replaceChildren(...parts);
  mark(0);
  byId("said").textContent = `Shown: ${text}`;
}

function summaryOf(found, [kept, classes]) {
  if (!classes) return "No form reaches the answer.";
  const size = found.complete ? "" : " The search was stopped before the largest forms.";
  const partition = found.exact ? "" : " The classes are those met in a sample of the forms.";
  return `${found.forms} consistent form${found.forms === "1" ? "" : "s"} in ${count(classes, "class")}, ` +
    `of which ${kept} ${kept === 1 ? "is" : "are"} kept.${size}${partition}`;
}

/** A stretch of a text as nodes, with what lies in one of the cells marked. */
function marked(text, [start, end], cells) {
  const nodes = [];
  let done = start;
  const sorted = cells.toSorted(([a, b], [c, d]) => a - c || b - d);
  for (const [from, to] of sorted) {
    const first = Math.max(from, done);
    const last = Math.min(to, end);
    if (last <= first) continue;
    nodes.push(text.slice(done, first), make("mark", {}, text.slice(first, last)));
    done = last;
  }
  nodes.push(text.slice(done, end));
  return nodes.filter((node) => node !== "");
}

function tableOf(text, rows, cells) {
  const used = new Set(cells.map(String));
  const cell = (place) => marked(text, place, used.has(String(place)) ? [place] : []);
  const line = ([predicate, args], at) => make("tr", {},
    make("td", { class: "n" }, String(at + 1)),
    make("th", { scope: "row" }, cell(predicate)),
    make("td", {}, args.flatMap(([relation, places]) =>
      places.flatMap((place) => [make("b", {}, relation), " ", ...cell(place), make("br")]))));
  const head = make("tr", {}, ["row", "predicate", "arguments"].map((name) => make("th", { scope: "col" }, name)));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, rows.map(line)));
}

/** A denotation in words. */
const denoted = (texts) => (texts.length ? texts.join("; ") : "undefined");

function classesOf(found, mark) {
  const score = (value) => (value === null ? "–" : value.toFixed(2));
  const item = (one, number) => {
    const radio = make("input", { type: "radio", name: "class", checked: number === 0 });
    radio.addEventListener("change", () => mark(number));
    const judged = index.judges.map((judge, at) => `${judge} ${score(one.scores[at])}`);
    return make("li", {},
      make("label", {}, radio, ` ${number + 1} `,
        make("span", { class: one.kept ? "kept" : "dropped" }, one.kept ? "kept" : "dropped"), " ",
        make("code", {}, one.form), ` = ${denoted(one.denotation)}`),
      make("p", {}, one.why),
      make("p", { class: "quiet" }, `${one.forms} form${one.forms === "1" ? "" : "s"}. `,
        `Scores: ${judged.join(", ")}; combined ${score(one.combined)}.`));
  };
  const more = found.more ? make("p", {}, `${count(found.more, "more class")} with lower scores.`) : null;
  return make("div", { role: "radiogroup", "aria-label": "Class whose cells are marked" },
    make("ol", { class: "classes" }, found.classes.map(item)), more);
}

/* ---- What tells two classes apart ---- */

function apart(found, number, text, rows) {
  const { classes } = found;
  if (classes.length < 2) return [];
  const others = [...classes.keys()].filter((other) => other !== number);
  const first = others.find((other) => classes[other].kept !== classes[number].kept) ?? others[0];
  const select = make("select", { id: "other" }, others.map((other) =>
    make("option", { value: other, selected: other === first }, `class ${other + 1}`)));
  const result = make("div", {});
  const compare = () => result.replaceChildren(...copiesApart(found, number, Number(select.value), text, rows));
  select.addEventListener("change", compare);
  compare();
  return [
    make("h4", {}, `What tells class ${number + 1} from another`),
    make("p", { class: "screen" }, make("label", { for: "other" }, "Compare with "), select),
    result,
    make("details", {}, make("summary", {}, "Denotations on every fictitious table"), everyCopy(found)),
  ];
}

function copiesApart(found, one, other, text, rows) {
  const [a, b] = [found.classes[one], found.classes[other]];
  const places = [...found.copies.keys()].filter((at) => denoted(a.copies[at]) !== denoted(b.copies[at]));
  const told = places.map((at, nth) => {
    const [changed, cells] = found.copies[at];
    const summary = make("summary", {}, `Fictitious table ${at + 1}: ${changed}. Class ${one + 1} gives `,
      make("b", {}, denoted(a.copies[at])), `, class ${other + 1} `, make("b", {}, denoted(b.copies[at])), ".");
    return make("details", { class: "copy", open: nth === 0 }, summary,
      changedCells(cells, [...a.cells, ...b.cells], text, rows));
  });
  const few = `${places.length} of ${count(found.copies.length, "fictitious table")} ` +
    `tell${places.length === 1 ? "s" : ""} class ${one + 1} from class ${other + 1}.`;
  return [make("p", { "aria-live": "polite" }, few), ...told];
}

/** What a fictitious table changes: of the cells that the two examples rest on, the others folded up. */
function changedCells(cells, used, text, rows) {
  const keys = new Set(used.map(String));
  const rests = ([row, relation]) => {
    const [predicate, args] = rows?.[row] ?? [null, []];
    const places = relation === index.predicate ? [predicate] : (args.find(([name]) => name === relation)?.[1] ?? []);
    return relation === "" || places.some((place) => keys.has(String(place)));
  };
  const near = cells.filter(rests);
  const far = cells.filter((cell) => !rests(cell));
  const folded = make("details", {}, make("summary", {}, count(far.length, "other changed cell")), cellTable(far, text, rows));
  return [near.length ? cellTable(near, text, rows) : null, far.length ? folded : null];
}

function cellTable(cells, text, rows) {
  const head = ["row", "relation", "real", "fictitious"].map((name) => make("th", { scope: "col" }, name));
  const line = ([row, relation, old, changed]) => {
    const predicate = rows?.[row] ? ` ${text.slice(...rows[row][0])}` : "";
    return make("tr", {}, [`${row + 1}${predicate}`, relation, old, wordsMarked(old, changed)]
      .map((each) => make("td", {}, each)));
  };
  const table = make("table", {}, make("thead", {}, make("tr", {}, head)), make("tbody", {}, cells.map(line)));
  return make("div", { class: "scroll" }, table);
}

/** The new text with the words that changed marked, where words stand against words. */
function wordsMarked(old, changed) {
  const before = old.split(" ");
  const after = changed.split(" ");
  if (before.length !== after.length || before.length === 1) return [changed];
  return after.flatMap((word, at) => [at ? " " : "", word === before[at] ? word : make("mark", {}, word)]);
}

function everyCopy({ copies, classes }) {
  const heads = ["class", "real", ...copies.map((_, at) => String(at + 1))];
  const head = make("tr", {}, heads.map((name) => make("th", { scope: "col" }, name)));
  const lines = classes.map((one, number) => make("tr", {},
    make("th", { scope: "row" }, `${number + 1} ${one.kept ? "kept" : "dropped"}`),
    [one.denotation, ...one.copies].map((texts) => make("td", {}, denoted(texts)))));
  return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, lines)));
}

/* ---- Keys ---- */

/** Go up or down the list from the question that has the focus; from outside of it, to the first that is seen. */
function step(by) {
  const at = listed.indexOf(Number(document.activeElement.dataset.place));
  const to = at < 0 ? page * PAGE : at + by;
  if (to < 0) return find.focus();
  if (to >= listed.length) return;
  if (Math.floor(to / PAGE) !== page) turn(Math.floor(to / PAGE) - page);
  linkTo(listed[to]).focus();
  history.replaceState(null, "", address(listed[to]));
  choose(listed[to], null);
}

function onKey(event) {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || target.tagName === "SELECT") return;
  const typing = target === find;
  if (key === "/" && !typing) {
    event.preventDefault();
    find.focus();
    find.select();
  } else if (key === "Escape") {
    if (typing && find.value) {
      find.value = "";
      applyFilters();
    } else {
      (chosen && linkTo(chosen.place) ? linkTo(chosen.place) : find).focus();
    }
  } else if ((key === "ArrowDown" && typing) || (list.contains(target) && (key === "ArrowDown" || key === "ArrowUp"))) {
    event.preventDefault();
    step(key === "ArrowDown" ? 1 : -1);
  }
}

/** A click or Enter on a question shows it and takes the focus there. */
async function onLink(event) {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, "", link.href);
  await choose(Number(link.dataset.place), null);
  byId("question-title")?.focus();
}

/** Paper shows what is folded up. */
function unfoldForPrint() {
  const folded = [...document.querySelectorAll("details:not([open])")];
  folded.forEach((each) => (each.open = true));
  addEventListener("afterprint", () => folded.forEach((each) => (each.open = false)), { once: true });
}

/* ---- Start ---- */

async function start() {
  try {
    index = await unpack(byId("index"));
  } catch (error) {
    const sentence = "This browser cannot unpack the questions: use one of 2024 or later.";
    shown.replaceChildren(make("p", { role: "alert" }, sentence));
    throw error;
  }
  find.addEventListener("input", applyFilters);
  Object.values(filters).forEach((filter) => filter.addEventListener("change", applyFilters));
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  list.addEventListener("click", onLink);
  addEventListener("hashchange", follow);
  addEventListener("keydown", onKey);
  addEventListener("beforeprint", unfoldForPrint);
  applyFilters();
  follow();
  document.body.dataset.ready = "true";
}

start();

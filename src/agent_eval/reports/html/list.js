// The list of episodes: filter, order, keys.

const CHUNK = 250;
const ORDER = new Map(RUN.episodes.map((episode, place) => [episode, place]));
const COLUMNS = [
  { key: "order", head: "episode", value: (episode) => ORDER.get(episode) },
  { key: "build", head: "build", value: (episode) => RUN.builds.indexOf(episode.build) },
  { key: "label", head: "label", value: (episode) => RUN.labels.indexOf(episode.label) },
  { key: "against", head: "pair", value: (episode) => episode.against },
  { key: "difference", head: "first difference", value: (episode) => episode.difference ?? Infinity, figure: true, minor: true },
  { key: "steps", head: "steps", value: (episode) => episode.steps.length, figure: true, minor: true },
  { key: "tokens", head: "tokens", value: (episode) => episode.tokens, figure: true, minor: true },
  { key: "seconds", head: "seconds", value: (episode) => episode.seconds, figure: true, minor: true },
];

const list = { found: RUN.episodes, drawn: 0, sort: "order", down: false, last: null };
const choices = { text: "", build: "", task: "", label: "", against: "" };

/** Return the numbers of all texts of an episode, so that a search looks at each text of the run once. */
function textNumbers(episode) {
  if (!episode.numbers) {
    const numbers = new Set([episode.goal]);
    for (const step of episode.steps) {
      for (const line of step.prompt) numbers.add(line);
      for (const name of ["text", "result", "target", "call"]) numbers.add(step[name]);
    }
    if (episode.fault !== null) numbers.add(episode.fault);
    episode.numbers = numbers;
  }
  return episode.numbers;
}

/** Return what tells whether an episode holds every word, in whatever text of it. */
function search(words) {
  const tests = words.map((word) => {
    const hits = new Set();
    RUN.texts.forEach((text, number) => text.toLowerCase().includes(word) && hits.add(number));
    return (episode) => {
      if (`${episode.id} ${labelTold(episode)} ${episode.against}`.toLowerCase().includes(word)) return true;
      for (const number of textNumbers(episode)) if (hits.has(number)) return true;
      return false;
    };
  });
  return (episode) => tests.every((test) => test(episode));
}

const AGAINST = {
  lost: (episode) => episode.against === "lost",
  gained: (episode) => episode.against === "gained",
  "both passed": (episode) => episode.against === "both passed",
  "both failed": (episode) => episode.against === "both failed",
  "other actions": (episode) => episode.difference !== null,
  "same actions": (episode) => episode.against !== "" && episode.difference === null,
};

function applyFilter() {
  const holds = search(choices.text.toLowerCase().split(/\s+/).filter(Boolean));
  const against = AGAINST[choices.against] ?? (() => true);
  list.found = RUN.episodes.filter((episode) =>
    (!choices.build || episode.build === choices.build) && (!choices.task || episode.task === choices.task) &&
    (!choices.label || episode.label === choices.label) && against(episode) && holds(episode));
  const { value } = COLUMNS.find((column) => column.key === list.sort);
  const sign = list.down ? -1 : 1;
  list.found.sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    return a < b ? -sign : a > b ? sign : ORDER.get(one) - ORDER.get(other);
  });
}

function drawList() {
  applyFilter();
  element("list").tBodies[0].replaceChildren();
  list.drawn = 0;
  drawMore();
  const whole = RUN.episodes.length;
  element("count").textContent = list.found.length === whole
    ? plural(whole, "episode") : `${list.found.length} of ${plural(whole, "episode")}`;
  for (const head of element("list").tHead.rows[0].cells) {
    const mine = head.dataset.key === list.sort;
    if (mine) head.setAttribute("aria-sort", list.down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
}

function drawMore() {
  const next = list.found.slice(list.drawn, list.drawn + CHUNK);
  element("list").tBodies[0].append(...next.map(row));
  list.drawn += next.length;
  const left = list.found.length - list.drawn;
  element("more").hidden = left === 0;
  element("more").textContent = `Show ${Math.min(left, CHUNK)} more of ${left}`;
}

function row(episode) {
  const first = episode.difference;
  const name = h("a", { href: episodeLink(episode), "data-episode": ORDER.get(episode) }, said(episode.task + "/" + episode.seed),
    h("span", { class: "unseen" }, ` with ${episode.build}`));
  return h("tr", null,
    h("th", { scope: "row" }, name, h("p", { class: "goal" }, said(textOf(episode.goal)))),
    h("td", null, buildMark(episode.build)),
    h("td", null, chip(episode)),
    h("td", null, standing(episode)),
    h("td", { class: "figure minor" }, first === null || !episode.against ? (episode.against ? "none" : "") : h("a", {
      href: compareLink(episode, referenceOf(episode)), "aria-label": `First difference at step ${first + 1}, ${episode.id}`,
    }, `step ${first + 1}`)),
    h("td", { class: "figure minor" }, `${episode.steps.length}/${episode.budget}`),
    h("td", { class: "figure minor" }, episode.tokens),
    h("td", { class: "figure minor" }, episode.seconds.toFixed(2)));
}

const referenceOf = (episode) => sameInstance(episode).find((other) => other.build === RUN.reference);

function fillFilter() {
  const options = {
    build: RUN.builds,
    task: [...new Set(RUN.episodes.map((episode) => episode.task))].sort(),
    label: RUN.labels.filter((label) => RUN.episodes.some((episode) => episode.label === label)),
    against: Object.keys(AGAINST),
  };
  for (const [name, values] of Object.entries(options)) {
    element(`filter-${name}`).append(h("option", { value: "" }, "any"),
      ...values.map((value) => h("option", { value }, value)));
  }
  element("list").tHead.rows[0].append(...COLUMNS.map((column) =>
    h("th", { scope: "col", "data-key": column.key, class: [column.figure ? "figure" : "", column.minor ? "minor" : ""].join(" ").trim() || null },
      h("button", { type: "button", on: { click: () => sortBy(column.key) } }, column.head))));
  element("filter").addEventListener("input", () => {
    for (const name of Object.keys(choices)) choices[name] = element(`filter-${name}`).value;
    setFragment(listLink());
    drawList();
  });
  element("filter").addEventListener("submit", (event) => event.preventDefault());
  element("filter").addEventListener("reset", (event) => {
    event.preventDefault();
    setFragment("#episodes");
    openList(new Map());
  });
  element("more").addEventListener("click", () => {
    const place = list.drawn;
    drawMore();
    focusRow(place);
  });
}

const listLink = () => fragment("episodes", choices);

function sortBy(key) {
  list.down = list.sort === key && !list.down;
  list.sort = key;
  drawList();
}

/** Show the list with the choices that an address makes. */
function openList(values) {
  for (const name of Object.keys(choices)) {
    const field = element(`filter-${name}`);
    field.value = values.get(name) ?? "";
    choices[name] = field.value = field.value || "";
  }
  drawList();
}

const rowLink = (place) => element("list").tBodies[0].rows[place]?.querySelector("a");

/** Move to a row; more rows are drawn for it where that is needed. */
function focusRow(place) {
  while (place >= list.drawn && list.drawn < list.found.length) drawMore();
  const link = rowLink(place);
  if (!link) return false;
  link.focus();
  link.closest("tr").scrollIntoView({ block: "nearest" });
  return true;
}

/** Move by some rows from the one that has the focus; to the first where none has it. */
function moveRow(by) {
  const current = document.activeElement?.closest?.("#list tbody tr");
  const place = current ? current.sectionRowIndex + by : 0;
  focusRow(Math.max(0, Math.min(place, list.found.length - 1)));
}

// What is looked at, by the address; keys; light and dark.

const VIEWS = ["summary", "episodes", "episode", "compare"];
const TITLE = document.title;
let current = null;

/** Return the element of a view. No fragment is its id: a browser would scroll to it, past what stands above. */
const viewOf = (name) => element(`view-${name}`);

function show() {
  const { view, values } = readFragment();
  const inSummary = !VIEWS.includes(view) && viewOf("summary").contains(element(view) ?? document.body);
  const name = VIEWS.includes(view) ? view : "summary";
  const moved = name !== current;
  for (const each of VIEWS) viewOf(each).hidden = each !== name;
  for (const [link, owner] of [["to-summary", "summary"], ["to-episodes", "episodes"]]) {
    if (owner === name) element(link).setAttribute("aria-current", "page");
    else element(link).removeAttribute("aria-current");
  }
  if (name === "episodes") openList(values);
  if (name === "episode") openEpisode(values);
  if (name === "compare") openBeside(values);
  if (name === "summary" && !plotsDrawn) drawPlots();
  const heading = viewOf(name).querySelector("h1");
  document.title = name === "summary" ? TITLE : `${heading.textContent} · ${TITLE}`;
  const began = current === null;
  current = name;
  if (inSummary) element(view).scrollIntoView();
  else if (!began) {
    const back = name === "episodes" && moved && list.last !== null ? list.found.indexOf(list.last) : -1;
    if (back < 0 || !focusRow(back)) {
      heading.focus({ preventScroll: true });
      window.scrollTo(0, 0);
    }
  }
  if (name === "episode" && viewer.episode) list.last = viewer.episode;
  if (name === "compare" && beside.asked) list.last = beside.asked;
}

// ---------------------------------------------------------------------------------------------------------------------
// keys

const KEYS = {
  summary: {},
  episodes: { next: () => moveRow(1), previous: () => moveRow(-1) },
  episode: {
    next: () => viewer.episode && showStep(viewer.step + 1),
    previous: () => viewer.episode && showStep(viewer.step - 1),
    n: () => neighbour(1),
    p: () => neighbour(-1),
    c: () => document.querySelector("#view-episode .compare")?.click(),
  },
  compare: {
    next: () => beside.left && showBeside(beside.row + 1),
    previous: () => beside.left && showBeside(beside.row - 1),
    c: () => beside.asked && (location.hash = episodeLink(beside.asked, askedStep())),
    d: () => beside.left && beside.first >= 0 && showBeside(beside.first),
  },
};
const MOVES = {
  j: "next", k: "previous", ArrowDown: "next", ArrowUp: "previous", ArrowRight: "next", ArrowLeft: "previous",
};
const ANYWHERE = {
  "/": () => {
    if (current !== "episodes") location.hash = listLink();
    // the view is shown by an event that comes later
    setTimeout(() => element("filter-text").select(), 0);
  },
  s: () => { location.hash = "#summary"; },
  e: () => { location.hash = listLink(); },
  "?": () => element("help").showModal(),
};
const UP = { summary: null, episodes: "#summary", episode: () => listLink(), compare: () => beside.asked ? episodeLink(beside.asked) : listLink() };

/** Tell whether arrows mean something where the focus is, or scroll a long page: then they are the browser's. */
function arrowsAreTaken(key, target) {
  if (current === "summary" || target.closest(".scroll, select, input, textarea, dialog")) return true;
  return current !== "episodes" && (key === "ArrowDown" || key === "ArrowUp") && !target.closest(".steps");
}

function pressed(event) {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || element("help").open) return;
  const writing = target.closest("input, textarea, select");
  if (key === "Escape") {
    if (writing) return void writing.blur();
    const up = typeof UP[current] === "function" ? UP[current]() : UP[current];
    if (up) location.hash = up;
    return;
  }
  if (writing || !element("keys-on").checked && key.length === 1) return;
  if (key.startsWith("Arrow") && arrowsAreTaken(key, target)) return;
  const act = ANYWHERE[key] ?? KEYS[current][MOVES[key] ?? key];
  if (!act) return;
  event.preventDefault();
  act();
}

// ---------------------------------------------------------------------------------------------------------------------
// light and dark

const THEMES = ["system", "light", "dark"];

/** Keep or look up a choice; a browser may keep nothing for files. */
function kept(name, value) {
  try {
    if (value !== undefined) localStorage.setItem(`agent-eval-${name}`, value);
    return localStorage.getItem(`agent-eval-${name}`);
  } catch {
    return null;
  }
}

function setTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  element("theme").textContent = `Theme: ${theme}`;
  if (plotsDrawn) drawPlots();
}

let theme = THEMES.includes(kept("theme")) ? kept("theme") : "system";
setTheme(theme);
element("theme").addEventListener("click", () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  kept("theme", theme);
  setTheme(theme);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plotsDrawn && drawPlots());
window.addEventListener("beforeprint", () => {
  document.documentElement.dataset.theme = "light";
  if (plotsDrawn) drawPlots();
});
window.addEventListener("afterprint", () => setTheme(theme));

element("keys-on").checked = kept("keys") !== "off";
element("keys-on").addEventListener("change", () => kept("keys", element("keys-on").checked ? "on" : "off"));
element("keys").addEventListener("click", ANYWHERE["?"]);
element("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the fragment says what is looked at
  element("main").focus();
});
fillFilter();
applyFilter();
document.addEventListener("keydown", pressed);
window.addEventListener("hashchange", show);
show();

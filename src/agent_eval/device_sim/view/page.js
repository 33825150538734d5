// The page of one simulated phone: asks what changed, shows it, and sends touches. Everything that the phone shows is
// put into the page as text, never as markup.
"use strict";

const EVERY_MS = 200, LONG_MS = 500, SLOP = 8, MOST_EVENTS = 500;
const KEYS = { Enter: "enter", Backspace: "delete", Escape: "back", Tab: "tab", Home: "home",
  ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };
const $ = (id) => document.getElementById(id);
const state = { version: "", since: 0, width: 720, height: 1280, nodes: [], chosen: null, inspecting: false };

function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

// ---------------------------------------------------------------------------------------------------------------- asking

async function look() {
  try {
    const answer = await fetch(`state?since=${state.since}`);
    if (!answer.ok) throw new Error(String(answer.status));
    const now = await answer.json();
    linked(true);
    $("front").textContent = now.title;
    $("now").textContent = new Date(now.now_ms).toISOString().slice(0, 19).replace("T", " ");
    if (now.width !== state.width || now.height !== state.height) {
      state.width = now.width; state.height = now.height;
      fit();
    }
    showEvents(now.events);
    showGaps(now.gaps);
    if (now.version !== state.version) {
      state.version = now.version;
      $("picture").src = `screen.png?v=${encodeURIComponent(now.version)}`;
      const tree = await (await fetch("tree.xml")).text();
      showTree(new DOMParser().parseFromString(tree, "application/xml"));
    }
  } catch {
    linked(false);
  }
  setTimeout(look, document.hidden ? EVERY_MS * 5 : EVERY_MS);
}

function linked(good) {
  $("link").textContent = good ? "live" : "the phone is gone";
  $("link").className = good ? "live" : "lost";
}

let queue = Promise.resolve();
function send(name, body) {
  queue = queue.then(async () => {
    try {
      const answer = await fetch(name, {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      if (!answer.ok) $("hint").textContent = await answer.text();
    } catch {
      linked(false);
    }
  });
}

// --------------------------------------------------------------------------------------------------------------- showing

function fit() {
  const narrow = innerWidth <= 720;
  const room = narrow ? Math.max(innerHeight - 170, 360) : Math.max(innerHeight - 180, 380);
  const across = narrow ? innerWidth - 40 : Math.max(innerWidth * 0.42, 260);
  const scale = Math.min(room / state.height, across / state.width);
  $("screen").style.width = `${Math.round(state.width * scale)}px`;
  $("screen").style.height = `${Math.round(state.height * scale)}px`;
  mark(state.chosen);
}

function short(name) { return name.slice(name.lastIndexOf(".") + 1); }

function showTree(xml) {
  const place = state.chosen ? state.nodes.indexOf(state.chosen) : -1;
  const wasId = state.chosen ? state.chosen.node.getAttribute("resource-id") + state.chosen.node.getAttribute("bounds") : "";
  state.nodes = [];
  const fragment = document.createDocumentFragment();
  const walk = (node, depth) => {
    for (const child of node.children) {
      if (child.tagName !== "node") continue;
      fragment.append(row(child, depth));
      walk(child, depth + 1);
    }
  };
  if (xml.documentElement.tagName === "hierarchy") walk(xml.documentElement, 0);
  const top = $("tree").scrollTop;
  $("tree").replaceChildren(fragment);
  $("tree").scrollTop = top;
  $("count").textContent = `${state.nodes.length}`;
  const same = state.nodes[place];
  const keeps = same && same.node.getAttribute("resource-id") + same.node.getAttribute("bounds") === wasId;
  choose(keeps ? same : null);
  filter();
}

function row(node, depth) {
  const [left, top, right, bottom] = (node.getAttribute("bounds").match(/-?\d+/g) || [0, 0, 0, 0]).map(Number);
  const element = make("div", "node");
  element.setAttribute("role", "treeitem");
  element.setAttribute("aria-level", depth + 1);
  element.style.paddingLeft = `${12 + depth * 12}px`;
  element.append(make("span", "kind", short(node.getAttribute("class"))));
  const words = node.getAttribute("text") || node.getAttribute("content-desc");
  if (words) element.append(make("span", "words", `\u201c${words.length > 60 ? words.slice(0, 59) + "\u2026" : words}\u201d`));
  const id = node.getAttribute("resource-id");
  if (id) element.append(make("span", "id", `#${id.slice(id.indexOf("/") + 1)}`));
  const flags = ["checked", "selected", "focused", "scrollable"].filter((name) => node.getAttribute(name) === "true");
  if (node.getAttribute("enabled") === "false") flags.push("disabled");
  if (flags.length) element.append(make("span", "flag", flags.join(" ")));
  const item = { node, element, left, top, right, bottom, depth };
  element.addEventListener("mouseenter", () => mark(item));
  element.addEventListener("mouseleave", () => mark(state.chosen));
  element.addEventListener("click", () => choose(item));
  state.nodes.push(item);
  return element;
}

function filter() {
  const wanted = $("filter").value.toLowerCase();
  for (const item of state.nodes) {
    const text = ["text", "content-desc", "resource-id", "class"].map((name) => item.node.getAttribute(name)).join(" ");
    item.element.classList.toggle("dim", wanted !== "" && !text.toLowerCase().includes(wanted));
  }
}

function choose(item, scroll) {
  if (state.chosen) { state.chosen.element.classList.remove("chosen"); state.chosen.element.removeAttribute("aria-selected"); }
  state.chosen = item;
  mark(item);
  const panel = $("attributes");
  if (!item) {
    $("chosen").textContent = "";
    panel.replaceChildren(make("p", "soft", "Click an element to see its attributes."));
    return;
  }
  item.element.classList.add("chosen");
  item.element.setAttribute("aria-selected", "true");
  if (scroll) item.element.scrollIntoView({ block: "nearest" });
  $("chosen").textContent = short(item.node.getAttribute("class"));
  const table = make("table");
  for (const { name, value } of item.node.attributes) {
    const line = make("tr");
    line.append(make("td", "", name), make("td", "", value));
    table.append(line);
  }
  panel.replaceChildren(table);
}

function mark(item) {
  const box = $("mark");
  box.hidden = !item;
  if (!item) return;
  const share = (value, whole) => `${(value / whole) * 100}%`;
  box.style.left = share(item.left, state.width);
  box.style.top = share(item.top, state.height);
  box.style.width = share(item.right - item.left, state.width);
  box.style.height = share(item.bottom - item.top, state.height);
}

function showEvents(events) {
  const list = $("events");
  if (!events.length) {
    if (!list.children.length) list.append(make("li", "empty", "Nothing yet."));
    return;
  }
  if (list.firstElementChild && list.firstElementChild.className === "empty") list.replaceChildren();
  for (const event of events) {
    const line = make("li", event.kind === "gap" ? "gap" : "");
    line.append(
      make("span", "time", new Date(event.at_ms).toISOString().slice(11, 23)),
      make("span", "sort", event.kind), make("span", "what", event.text));
    list.prepend(line);
    state.since = Math.max(state.since, event.number);
  }
  while (list.children.length > MOST_EVENTS) list.lastElementChild.remove();
}

function showGaps(gaps) {
  $("gaps").hidden = !gaps.length;
  const list = make("ul");
  for (const [text, count] of gaps) list.append(make("li", "", count > 1 ? `${text} (${count} times)` : text));
  $("gaps").replaceChildren(make("strong", "", `Asked for, and not on this phone: ${gaps.length}`), list);
}

// -------------------------------------------------------------------------------------------------------------- touching

const screen_ = $("screen");
let finger = null;

function point(event) {
  const box = screen_.getBoundingClientRect();
  return { x: ((event.clientX - box.left) / box.width) * state.width, y: ((event.clientY - box.top) / box.height) * state.height };
}

function under(at) {
  let found = null;
  for (const item of state.nodes) {
    const inside = item.left <= at.x && at.x < item.right && item.top <= at.y && at.y < item.bottom;
    if (inside && (!found || area(item) <= area(found))) found = item;
  }
  return found;
}

function area(item) { return (item.right - item.left) * (item.bottom - item.top); }

function dot(event) {
  const box = screen_.getBoundingClientRect();
  $("touch").style.left = `${event.clientX - box.left}px`;
  $("touch").style.top = `${event.clientY - box.top}px`;
}

screen_.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  screen_.focus();
  event.preventDefault();
  if (state.inspecting) { choose(under(point(event)), true); return; }
  screen_.setPointerCapture(event.pointerId);
  finger = { ...point(event), since: performance.now(), clientX: event.clientX, clientY: event.clientY };
  $("touch").hidden = false;
  dot(event);
});
screen_.addEventListener("pointermove", (event) => {
  if (finger) dot(event);
  else if (state.inspecting) mark(under(point(event)));
});
screen_.addEventListener("pointerleave", () => { if (state.inspecting) mark(state.chosen); });
screen_.addEventListener("pointercancel", () => { finger = null; $("touch").hidden = true; });
screen_.addEventListener("pointerup", (event) => {
  $("touch").hidden = true;
  if (!finger) return;
  const from = finger, to = point(event), held = Math.round(performance.now() - from.since);
  finger = null;
  const moved = Math.max(Math.abs(event.clientX - from.clientX), Math.abs(event.clientY - from.clientY));
  if (moved > SLOP) send("swipe", { x1: from.x, y1: from.y, x2: to.x, y2: to.y, ms: Math.min(Math.max(held, 20), 10000) });
  else send(held >= LONG_MS ? "long_press" : "tap", { x: from.x, y: from.y });
});
screen_.addEventListener("contextmenu", (event) => event.preventDefault());

screen_.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Tab" && event.shiftKey) return;
  if (KEYS[event.key]) send("key", { name: KEYS[event.key] });
  else if ([...event.key].length === 1) send("text", { text: event.key });
  else return;
  event.preventDefault();
});
document.addEventListener("paste", (event) => {
  if (document.activeElement !== screen_) return;
  const text = event.clipboardData.getData("text");
  if (text) send("text", { text: text.slice(0, 10000) });
});

for (const button of document.querySelectorAll("[data-key]"))
  button.addEventListener("click", () => send("key", { name: button.dataset.key }));
$("inspect").addEventListener("click", () => {
  state.inspecting = !state.inspecting;
  $("inspect").setAttribute("aria-pressed", state.inspecting);
  screen_.classList.toggle("inspecting", state.inspecting);
  mark(state.chosen);
});
$("clear").addEventListener("click", () => $("events").replaceChildren());
$("filter").addEventListener("input", filter);
$("tree").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !state.nodes.length) return;
  const place = state.chosen ? state.nodes.indexOf(state.chosen) + step : 0;
  choose(state.nodes[Math.min(Math.max(place, 0), state.nodes.length - 1)], true);
  event.preventDefault();
});
addEventListener("resize", fit);
fit();
look();

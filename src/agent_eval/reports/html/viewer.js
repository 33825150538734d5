// One episode, step by step: what the phone showed, what the model wrote, what came of it, and why the label is that one.

/**
 * Return what the agent was shown, a line each: what it was told, then the screen. The element that the call names is
 * marked, and lines that are not among those of another step.
 */
function screen(step, others = null) {
  const lines = step.prompt.map((number) => {
    const text = textOf(number);
    const match = /^(\[(-?\d+)\])(.*?)( \([^()]*\))?$/su.exec(text);
    const hit = match !== null && step.index !== null && Number(match[2]) === step.index;
    const only = others !== null && !others.has(number);
    const kind = ["line", match ? "element" : text.startsWith("App: ") ? "head" : "", hit ? "hit" : "", only ? "only" : ""];
    const content = match
      ? [h("span", { class: "index" }, match[1]), h("bdi", null, match[3]), match[4] ? h("span", { class: "state" }, match[4]) : null]
      : [h("bdi", null, text)];
    return h("li", { class: kind.filter(Boolean).join(" ") }, content,
      hit ? h("span", { class: "unseen" }, " (named by the call)") : null);
  });
  const top = step.prompt.findIndex((number) => textOf(number).startsWith("App: "));
  return h("div", { class: "shown" },
    top > 0 ? h("ul", { class: "told", "aria-label": "What the agent was told" }, lines.slice(0, top)) : null,
    h("div", { class: "phone" },
      h("ol", { class: "screen", "aria-label": "The screen that the agent was shown" }, lines.slice(Math.max(0, top)))));
}

/** Return what a step was: reply, call, result, changes, figures, sentences. */
function stepFacts(step) {
  const call = step.tool === null
    ? h("p", { class: "call bad" }, "no call: ", said(textOf(step.source)))
    : h("p", { class: "call" }, said(step.tool),
      step.arguments.length ? h("span", { class: "faint" }, ` parsed as ${textOf(step.source)}`) : null,
      step.arguments.length ? h("dl", { class: "arguments" }, step.arguments.map(([name, value]) =>
        [h("dt", null, said(textOf(name))), h("dd", null, said(textOf(value)))])) : null);
  const app = textOf(step.package);
  const whose = step.in_task_app === true ? ", of the task" : step.in_task_app === false ? ", not of the task" : "";
  const facts = [
    ["result", said(textOf(step.result))],
    ["target", textOf(step.target) ? said(textOf(step.target)) : "none"],
    ["goal", h("span", { class: step.goal ? "good" : "faint" }, step.goal ? "held after this step" : "did not hold after this step")],
    ["app in front", app ? [said(app), whose] : "not known"],
    ["tokens", figures(step)],
  ];
  return h("div", { class: "facts-of-step" },
    h("h3", null, "The model wrote"), said(textOf(step.text), "pre", "said reply"),
    h("h3", null, "The call"), call,
    h("h3", null, "What came of it"),
    h("dl", { class: "facts" }, facts.map(([name, value]) => [h("dt", null, name), h("dd", null, value)])),
    step.changes.length ? changes(step) : null,
    h("h3", null, "In sentences"), sentences(step.notes));
}

function changes(step) {
  const value = (number) => (number === null ? h("span", { class: "faint" }, "absent") : said(textOf(number)));
  return h("table", { class: "words changes" }, h("caption", null, "Changes of the phone's state"),
    h("thead", null, h("tr", null, ["path", "before", "after"].map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", null, step.changes.map(([path, before, after]) => h("tr", null,
      h("th", { scope: "row" }, said(textOf(path))), h("td", null, value(before)), h("td", null, value(after))))));
}

function figures(step) {
  const time = step.timing;
  if (time === null) return `${step.tokens} generated`;
  const speed = time.decode_s > 0 ? `, ${(time.decode_tokens / time.decode_s).toFixed(0)} a second` : "";
  return `${step.tokens} generated${speed}; prompt ${time.prompt_tokens}, of which ${time.prefill_tokens} computed in ` +
    `${milliseconds(time.prefill_s)}; first token after ${milliseconds(time.first_token_s)}; decode ${milliseconds(time.decode_s)}`;
}

const milliseconds = (seconds) => `${(1000 * seconds).toFixed(1)} ms`;

const sentences = (numbers) => h("ul", null, numbers.map((number) => h("li", null, said(textOf(number)))));

/** Return what of a step is worth seeing in a list of steps. */
function stepMarks(episode, place) {
  const step = episode.steps[place];
  const before = place === 0 ? episode.held : episode.steps[place - 1].goal;
  return [
    step.tool === null ? h("span", { class: "tag bad" }, "no call") : null,
    step.goal && !before ? h("span", { class: "tag good" }, "goal held") : null,
    !step.goal && before ? h("span", { class: "tag bad" }, "goal gone") : null,
    step.changes.length ? h("span", { class: "tag" }, plural(step.changes.length, "change")) : null,
  ];
}

const viewer = { episode: null, step: 0 };

function openEpisode(values) {
  const episode = BY_ID.get(values.get("episode"));
  const view = element("view-episode");
  if (!episode) {
    fill(view, missingEpisode(values.get("episode")));
    viewer.episode = null;
    return;
  }
  viewer.episode = episode;
  viewer.step = placeIn(values, "step", episode.steps.length, 0);
  const story = episode.story;
  fill(view,
    h("h1", { tabindex: -1 }, said(episode.id)),
    h("p", { class: "goal lead" }, said(textOf(episode.goal))),
    h("p", null, chip(episode), " ", episode.against ? standing(episode) : null,
      ` · ${plural(episode.steps.length, "step")} of ${episode.budget} · ${episode.tokens} tokens · ${episode.seconds.toFixed(2)} s`),
    neighbours(episode),
    others(episode),
    story.contradiction.length ? h("p", { class: "caveat" }, said(textOf(story.contradiction[0]))) : null,
    episode.fault !== null ? h("div", { class: "caveat" }, "The harness failed: ", said(textOf(episode.fault), "pre", "said")) : null,
    h("section", { "aria-labelledby": "h-steps" },
      h("h2", { id: "h-steps" }, "Step by step"),
      h("div", { class: "before" }, sentences(story.beginning)),
      episode.steps.length ? h("div", { class: "trajectory" },
        h("ol", { class: "steps" }, episode.steps.map((step, place) => h("li", null, h("button", {
          type: "button", "data-step": place, on: { click: () => showStep(place) },
        }, h("span", { class: "number" }, place + 1), said(textOf(step.call), "bdi", "said of"), stepMarks(episode, place))))),
        h("div", { id: "step", class: "step", role: "group", "aria-labelledby": "h-step" })) : null,
      h("div", { class: "after" }, sentences(story.ending))),
    h("section", { "aria-labelledby": "h-why" },
      h("h2", { id: "h-why" }, `Why the label is ${labelTold(episode)}`),
      story.facts.length ? [h("h3", null, "Facts"), sentences(story.facts)] : null,
      story.rules.length ? [h("h3", null, "The first rule that matches"), h("ol", { class: "rules" }, story.rules.map((rule) =>
        h("li", { class: rule.matched ? "matched" : "faint" }, h("b", null, rule.verdict), rule.matched ? " yes: " : " no: ", said(textOf(rule.why)))))] : null,
      story.missing.length ? [h("h3", null, "Not in the record"), sentences(story.missing)] : null,
      h("h3", null, "Setting"), sentences(story.setting)));
  if (episode.steps.length) drawStep();
}

const missingEpisode = (id) => h("h1", { tabindex: -1 }, "No such episode in this run: ", said(id ?? ""));

/** Return the step, or row, that an address names, from 0, within what there is; where it names none, another one. */
function placeIn(values, name, places, otherwise) {
  const wanted = Number.parseInt(values.get(name), 10) - 1;
  return Math.max(0, Math.min(Number.isFinite(wanted) ? wanted : otherwise, places - 1));
}

function showStep(place) {
  viewer.step = Math.max(0, Math.min(place, viewer.episode.steps.length - 1));
  setFragment(episodeLink(viewer.episode, viewer.step));
  drawStep();
}

function drawStep() {
  const { episode, step: place } = viewer;
  const step = episode.steps[place];
  markCurrent("#view-episode .steps button", place);
  fill(element("step"),
    h("h3", { id: "h-step", class: "step-head" }, `Step ${place + 1} of ${episode.steps.length}`,
      h("button", { type: "button", "aria-label": "Previous step", disabled: place === 0, on: { click: () => showStep(place - 1) } }, "‹"),
      h("button", { type: "button", "aria-label": "Next step", disabled: place === episode.steps.length - 1, on: { click: () => showStep(place + 1) } }, "›")),
    h("div", { class: "columns" }, screen(step), stepFacts(step)));
}

/** Mark the current one of several buttons of steps, and bring it into sight within their list. */
function markCurrent(selector, place) {
  for (const button of document.querySelectorAll(selector)) {
    const mine = Number(button.dataset.step) === place;
    if (mine) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
    if (mine) {
      const holder = button.closest(".steps");
      const top = button.offsetTop - holder.offsetTop;
      if (top < holder.scrollTop || top + button.offsetHeight > holder.scrollTop + holder.clientHeight) {
        holder.scrollTop = top - holder.clientHeight / 3;
      }
    }
  }
}

/** Return links to the episodes before and after this one in the list as it is filtered. */
function neighbours(episode) {
  const link = (other, text) => other ? h("a", { href: episodeLink(other) }, text, said(other.id)) : null;
  const place = list.found.indexOf(episode);
  return h("nav", { class: "neighbours", "aria-label": "Episodes around this one" },
    h("a", { href: listLink() }, place < 0 ? "All episodes" : `List: ${place + 1} of ${list.found.length}`),
    place > 0 ? link(list.found[place - 1], "‹ ") : null,
    place >= 0 ? link(list.found[place + 1], "› ") : null);
}

/** Return what became of the same instance with the other builds. */
function others(episode) {
  const rest = sameInstance(episode).filter((other) => other !== episode);
  if (!rest.length) return null;
  return h("ul", { class: "others", "aria-label": "The same instance with other builds" }, rest.map((other) => {
    const first = firstDifference(episode, other);
    return h("li", null, buildMark(other.build), " ", chip(other), " ", h("a", { href: episodeLink(other) }, "open",
      h("span", { class: "unseen" }, ` ${other.id}`)), " ",
    h("a", { href: compareLink(episode, other), class: "compare" }, "side by side", h("span", { class: "unseen" }, ` with ${other.build}`)),
    h("span", { class: "faint" }, first < 0 ? " same actions" : ` differs from step ${first + 1}`));
  }));
}

function neighbour(by) {
  const place = list.found.indexOf(viewer.episode);
  const next = place < 0 ? null : list.found[place + by];
  if (next) location.hash = episodeLink(next);
}

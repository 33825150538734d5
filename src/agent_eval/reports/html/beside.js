// Two builds on the same instance, side by side: step by step, the first difference marked.

const beside = { left: null, right: null, step: 0, first: -1 };

/** Show an episode to the right of the same instance with another build: the reference unless the address says so. */
function openBeside(values) {
  const view = element("view-compare");
  const episode = BY_ID.get(values.get("compare"));
  const rest = episode ? sameInstance(episode).filter((other) => other !== episode) : [];
  const other = rest.find((one) => one.build === values.get("with")) ?? rest.find((one) => one.build === RUN.reference) ?? rest[0];
  beside.left = beside.right = null;
  if (!episode || !other) {
    fill(view, episode
      ? h("h1", { tabindex: -1 }, "No other build has played the instance of ", said(episode.id))
      : missingEpisode(values.get("compare")));
    return;
  }
  const [left, right] = RUN.builds.indexOf(other.build) < RUN.builds.indexOf(episode.build) || other.build === RUN.reference
    ? [other, episode] : [episode, other];
  const steps = Math.max(left.steps.length, right.steps.length);
  const first = firstDifference(left, right);
  Object.assign(beside, { left, right, asked: episode, step: stepIn(values, steps, Math.max(0, first)), first });
  fill(view,
    h("h1", { tabindex: -1 }, said(`${episode.task}/${episode.seed}`), " with ", said(left.build), " and ", said(right.build)),
    h("p", { class: "goal lead" }, said(textOf(left.goal))),
    h("ul", { class: "others", "aria-label": "What became of it" }, [left, right].map((one) => h("li", null, buildMark(one.build), " ", chip(one),
      ` ${plural(one.steps.length, "step")} `, h("a", { href: episodeLink(one) }, "open", h("span", { class: "unseen" }, ` ${one.id}`))))),
    otherChoices(left, right, episode),
    h("p", { class: "difference" }, beside.first < 0
      ? "Both took the same actions throughout."
      : [h("button", { type: "button", id: "to-difference", on: { click: () => showBeside(beside.first) } },
        `First difference: step ${beside.first + 1}`), ` ${differenceTold()}`]),
    h("ol", { class: "steps rows" }, Array.from({ length: steps }, (_, place) => h("li", null, h("button", {
      type: "button", "data-step": place, class: place === beside.first ? "first" : null, on: { click: () => showBeside(place) },
    }, h("span", { class: "number" }, place + 1), sign(place), oneCall(left, place), oneCall(right, place))))),
    h("div", { id: "both", class: "both", role: "group", "aria-labelledby": "h-both" }));
  if (steps) drawBeside();
}

const differs = (place) => beside.left.steps[place]?.action !== beside.right.steps[place]?.action;

function sign(place) {
  if (place === beside.first) return h("span", { class: "tag bad" }, "first difference");
  return differs(place) ? h("span", { class: "tag" }, "differs") : h("span", { class: "tag faint" }, "same");
}

const oneCall = (episode, place) => {
  const step = episode.steps[place];
  return h("span", { class: "of" }, h("span", { class: "who" }, said(episode.build), ": "),
    step ? said(textOf(step.call)) : h("i", { class: "faint" }, "had ended"), step ? stepMarks(episode, place) : null);
};

function differenceTold() {
  const { left, right, first } = beside;
  if (!left.steps[first]) return `${left.build} had ended.`;
  if (!right.steps[first]) return `${right.build} had ended.`;
  return left.steps[first].snapshot === right.steps[first].snapshot ? "The phone was the same after it." : "";
}

/** Return links to the other pairs of builds on this instance. */
function otherChoices(left, right, episode) {
  const all = sameInstance(episode);
  const links = all.flatMap((one, place) => all.slice(place + 1).map((two) => [one, two]))
    .filter((pair) => !(pair.includes(left) && pair.includes(right)))
    .map(([one, two]) => h("li", null, h("a", { href: compareLink(two, one) }, said(one.build), " and ", said(two.build))));
  return links.length ? h("nav", { "aria-label": "Other pairs of builds on this instance" }, h("ul", { class: "inline" }, links)) : null;
}

function showBeside(place) {
  const { left, right } = beside;
  beside.step = Math.max(0, Math.min(place, Math.max(left.steps.length, right.steps.length) - 1));
  setFragment(compareLink(beside.asked, beside.asked === left ? right : left, beside.step));
  drawBeside();
}

function drawBeside() {
  const { left, right, step: place, first } = beside;
  markCurrent("#view-compare .steps button", place);
  const [one, two] = [left.steps[place], right.steps[place]];
  const standing = place === first ? ": the first difference" : first >= 0 && place > first ? ", after the first difference" : ": the same action";
  fill(element("both"),
    h("h2", { id: "h-both", class: place === first ? "bad" : null }, `Step ${place + 1}${standing}`),
    h("div", { class: "pair" }, side(left, one, two), side(right, two, one)));
}

function side(episode, step, other) {
  return h("section", { class: "side", "aria-label": `With ${episode.build}` }, h("h3", null, buildMark(episode.build)),
    step ? [screen(step, other ? new Set(other.prompt) : null), stepFacts(step)]
      : h("p", { class: "faint" }, `The episode had ended: ${labelTold(episode)}.`));
}

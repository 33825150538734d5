// Two builds on the same instance, side by side: rows of steps, aligned, the first difference marked.

const beside = { left: null, right: null, rows: [], row: 0, first: -1 };

/**
 * Return rows that say which step of one episode stands beside which of the other, from 0; null where none does.
 *
 * Up to the first difference, and at it, steps have the same number. Behind it the same actions on the same targets
 * stand side by side, as many of them as keep their order (a longest common subsequence); what lies between two of
 * these stands as it comes.
 */
function alignedRows(left, right, first) {
  const [m, n] = [left.steps.length, right.steps.length];
  const before = first < 0 ? m : first + 1;
  const rows = Array.from({ length: before }, (_, place) => [place < m ? place : null, place < n ? place : null]);
  const alike = (i, j) => left.steps[i].action === right.steps[j].action && left.steps[i].target === right.steps[j].target;
  const longest = Array.from({ length: m + 1 }, () => new Array(n + 1).fill(0)); // of the steps from i and from j on
  for (let i = m - 1; i >= before; i -= 1) {
    for (let j = n - 1; j >= before; j -= 1) {
      longest[i][j] = alike(i, j) ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  let [i, j] = [before, before];
  let [alone, other] = [[], []];
  const meet = () => {
    for (let k = 0; k < Math.max(alone.length, other.length); k += 1) rows.push([alone[k] ?? null, other[k] ?? null]);
    [alone, other] = [[], []];
  };
  while (i < m || j < n) {
    if (i < m && j < n && alike(i, j)) {
      meet();
      rows.push([i, j]);
      i += 1;
      j += 1;
    } else if (j >= n || (i < m && longest[i + 1][j] >= longest[i][j + 1])) {
      alone.push(i);
      i += 1;
    } else {
      other.push(j);
      j += 1;
    }
  }
  meet();
  return rows;
}

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
  const first = firstDifference(left, right);
  const rows = alignedRows(left, right, first);
  Object.assign(beside, { left, right, asked: episode, rows, row: placeIn(values, "row", rows.length, Math.max(0, first)), first });
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
    h("ol", { class: "steps rows" }, rows.map((row, place) => h("li", null, h("button", {
      type: "button", "data-step": place, class: place === beside.first ? "first" : null, on: { click: () => showBeside(place) },
    }, h("span", { class: "number" }, numbersOf(row)), sign(place), oneCall(left, row[0], place, 0), oneCall(right, row[1], place, 1))))),
    h("div", { id: "both", class: "both", role: "group", "aria-labelledby": "h-both" }));
  if (rows.length) drawBeside();
}

/** Return the numbers of a row's steps: one where both have the same, or where only one episode has such a step. */
function numbersOf([one, two]) {
  return one === null || two === null || one === two ? `${(one ?? two) + 1}` : `${one + 1} · ${two + 1}`;
}

const stepsOf = ([one, two]) => [beside.left.steps[one], beside.right.steps[two]];

function sign(place) {
  const [one, two] = stepsOf(beside.rows[place]);
  if (place === beside.first) return h("span", { class: "tag bad" }, "first difference");
  if (!one || !two) return h("span", { class: "tag" }, "alone");
  if (one.action !== two.action) return h("span", { class: "tag" }, "differs");
  const met = beside.first >= 0 && place > beside.first && one.snapshot === two.snapshot;
  return h("span", { class: "tag faint" }, met ? "same, same phone" : "same");
}

/** Tell of a row without a step of one side whether that episode had ended before it. */
const hadEnded = (side, place) => beside.rows.slice(place).every((row) => row[side] === null);

function oneCall(episode, number, place, side) {
  const step = episode.steps[number];
  return h("span", { class: "of" }, h("span", { class: "who" }, said(episode.build), ": "),
    step ? said(textOf(step.call)) : h("i", { class: "faint" }, hadEnded(side, place) ? "had ended" : "no such step"),
    step ? stepMarks(episode, number) : null);
}

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
  beside.row = Math.max(0, Math.min(place, beside.rows.length - 1));
  setFragment(compareLink(beside.asked, beside.asked === left ? right : left, beside.row));
  drawBeside();
}

/** Return the step of the episode that was asked for in the current row, or the last one before it. */
function askedStep() {
  const side = beside.asked === beside.left ? 0 : 1;
  return Math.max(0, ...beside.rows.slice(0, beside.row + 1).map((row) => row[side] ?? 0));
}

function drawBeside() {
  const { left, right, rows, row: place, first } = beside;
  markCurrent("#view-compare .steps button", place);
  const [one, two] = stepsOf(rows[place]);
  const after = one?.action === two?.action ? ", the same action" : ", after the first difference";
  const standing = place === first ? ": the first difference" : first >= 0 && place > first ? after : ": the same action";
  fill(element("both"),
    h("h2", { id: "h-both", class: place === first ? "bad" : null }, `Step ${numbersOf(rows[place])}${standing}`),
    h("div", { class: "pair" }, side(left, one, two, 0), side(right, two, one, 1)));
}

function side(episode, step, other, which) {
  const ended = hadEnded(which, beside.row);
  return h("section", { class: "side", "aria-label": `With ${episode.build}` },
    h("h3", null, buildMark(episode.build), step ? h("span", { class: "faint" }, ` step ${episode.steps.indexOf(step) + 1}`) : null),
    step ? [screen(step, other ? new Set(other.prompt) : null), stepFacts(step)]
      : h("p", { class: "faint" }, ended ? `The episode had ended: ${labelTold(episode)}.` : "It takes no such step here."));
}

// The run's data, and the fragments of addresses that name what is looked at.

const RUN = JSON.parse(element("data").textContent);
const textOf = (number) => RUN.texts[number];
const BY_ID = new Map(RUN.episodes.map((episode) => [episode.id, episode]));
const BY_INSTANCE = new Map();
for (const episode of RUN.episodes) {
  const key = JSON.stringify([episode.task, episode.seed]);
  if (!BY_INSTANCE.has(key)) BY_INSTANCE.set(key, []);
  BY_INSTANCE.get(key).push(episode);
}

/** Return the episodes of the same instance, one for each build. */
const sameInstance = (episode) => BY_INSTANCE.get(JSON.stringify([episode.task, episode.seed]));

const named = (text) => encodeURIComponent(text).replaceAll("%2F", "/");

/** Return a fragment; choices that are empty are left out. */
function fragment(view, choices = {}) {
  const chosen = Object.entries(choices).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return "#" + [view, ...chosen.map(([name, value]) => `${name}=${named(value)}`)].join("&");
}

const episodeLink = (episode, step = 0) => "#" + `episode=${named(episode.id)}` + (step ? `&step=${step + 1}` : "");

/** Return a link to two episodes side by side; without a row it leads to the first difference. */
function compareLink(episode, other, row = null) {
  return `#compare=${named(episode.id)}&with=${named(other.build)}` + (row === null ? "" : `&row=${row + 1}`);
}

/** Read the address's fragment: its parts by name, the first of them naming the view. */
function readFragment() {
  const parts = location.hash.slice(1).split("&").map((part) => part.split("="));
  const values = new Map();
  for (const [name, ...value] of parts) {
    try {
      values.set(name, decodeURIComponent(value.join("=")));
    } catch {
      values.set(name, value.join("=")); // a per cent sign that begins no escape: taken as it is
    }
  }
  return { view: parts[0][0] || "summary", values };
}

/** Change the address without a new entry in the history. */
function setFragment(hash) {
  if (location.hash !== hash) history.replaceState(null, "", hash);
}

/**
 * Return the first step, from 0, at which the actions of two episodes differ or only one goes on; -1 if there is none.
 */
function firstDifference(one, other) {
  const both = Math.min(one.steps.length, other.steps.length);
  for (let place = 0; place < both; place += 1) {
    if (one.steps[place].action !== other.steps[place].action) return place;
  }
  return one.steps.length === other.steps.length ? -1 : both;
}

const labelTold = (episode) => episode.label + (episode.sub_kind ? `, ${episode.sub_kind}` : "");

/** Return a label with its colour; it may break where it has an underscore. */
function chip(episode) {
  const parts = labelTold(episode).split("_");
  return h("span", { class: "chip", "data-label": episode.label },
    parts.map((part, place) => (place < parts.length - 1 ? [`${part}_`, h("wbr")] : part)));
}

const buildMark = (build) => h("span", { class: "build", "data-build": RUN.builds.indexOf(build) }, said(build));

const STANDING_KINDS = { lost: "bad", gained: "good" };

const standing = (episode) =>
  h("span", { class: STANDING_KINDS[episode.against] ?? "faint" },
    episode.against || (episode.build === RUN.reference ? "reference" : "no pair"));

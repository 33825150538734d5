// Puts what models and phones wrote on the page: as text of elements, never as markup.
"use strict";

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u;
const NAMED = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Return the escape of a character that a browser would obey or hide, such as \u202e. */
function escaped(sign) {
  const code = sign.codePointAt(0);
  const hex = code.toString(16);
  if (NAMED[sign]) return NAMED[sign];
  if (code < 0x100) return "\\x" + hex.padStart(2, "0");
  return code < 0x10000 ? "\\u" + hex.padStart(4, "0") : "\\U" + hex.padStart(8, "0");
}

/** Return nodes that show a text as it is written; line breaks are kept where it is a block of several lines. */
function shown(text, block = false) {
  const nodes = [];
  let plain = "";
  const flush = () => {
    if (plain) nodes.push(document.createTextNode(plain));
    plain = "";
  };
  for (const sign of String(text)) {
    if (!INVISIBLE.test(sign) || (block && (sign === "\n" || sign === "\t"))) {
      plain += sign;
      continue;
    }
    flush();
    const mark = document.createElement("span");
    mark.className = "sign";
    mark.textContent = escaped(sign);
    nodes.push(mark);
  }
  flush();
  return nodes;
}

/**
 * Return a new element. Attributes are this page's own names and values; `on` are listeners, `flag` are properties that
 * are true or false. Children are elements, or texts that are shown as they are written; null ones are left out.
 */
function h(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  return fill(made, ...children);
}

/** Give an element these children and no others. */
function fill(holder, ...children) {
  holder.replaceChildren(...children.flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .flatMap((child) => (child instanceof Node ? [child] : shown(child))));
  return holder;
}

/** Return an element for what a model or a phone wrote: its direction of writing reaches no further than itself. */
function said(text, tag = "bdi", name = "said") {
  return h(tag, { class: name, dir: tag === "bdi" ? null : "auto" }, shown(text, tag !== "bdi"));
}

const element = (id) => document.getElementById(id);

function plural(number, noun) {
  return number === 1 ? `${number} ${noun}` : `${number} ${noun}s`;
}

// One answer as it comes in: outcome, text with its markers, warnings, sources, times, feedback.

import { el } from "./dom.js";
import { feedback } from "./feedback.js";
import { passage, pieces, points } from "./passage.js";
import { language, t } from "./words.js";

// From top to bottom: what a part depends on, and what it shows. A frame draws anew only what it changes, so that
// a source stays open, and a rating filled in, while the text goes on.
const PARTS = [
  [(state) => [state.question], asked],
  [(state) => [state.finish, state.problem, state.stopped, !state.text], banner],
  [(state) => [state.problem], problem],
  [(state) => [state.text, state.finish], answer],
  [(state) => [state.finish], warnings],
  [(state) => [state.finish], actions],
  [(state) => [state.parents, state.finish], sources],
  [(state) => [state.finish], stages],
  [(state) => [state.finish], rating],
];

export function show(place, state) {
  if (place.shown !== state) place.replaceChildren(...PARTS.map(() => el("div")));
  place.shown = state;
  PARTS.forEach(([needs, make], index) => {
    const holder = place.children[index];
    const now = [...needs(state), language()];
    if (holder.drawn?.every((one, at) => one === now[at])) return;
    const open = [...holder.querySelectorAll("details[open]")].map((one) => one.id);
    const read = [...holder.querySelectorAll(".text")].map((one) => one.scrollTop);
    const focused = holder.contains(document.activeElement) ? document.activeElement.closest("details")?.id : "";
    holder.replaceChildren(...[make(state)].flat().filter(Boolean));
    holder.querySelectorAll("details").forEach((one) => (one.open ||= Boolean(one.id) && open.includes(one.id)));
    holder.querySelectorAll(".text").forEach((one, at) => (one.scrollTop = read[at] || 0));
    if (focused) holder.querySelector(`#${focused} summary`)?.focus();
    holder.drawn = now;
  });
  place.hidden = false;
}

// On paper the question's form is not there: an answer without its question and day says little.
function asked({ question, asked }) {
  return [el("h2", { class: "printed" }, question), el("p", { class: "printed hint" }, asked.toLocaleString(language()))];
}

function banner({ finish, problem, stopped, text }) {
  if (problem) return el("p", { class: "banner bad" }, t("failed"));
  if (stopped) return el("p", { class: "banner wait" }, t("stopped"));
  if (!finish) return el("p", { class: "banner wait" }, t(text ? "answering" : "searching"));
  const kind = { OUTCOME_ANSWERED: "good", OUTCOME_INSUFFICIENT_EVIDENCE: "warn" }[finish.outcome] || "off";
  return el("p", { class: `banner ${kind}`, id: "outcome" }, t(finish.outcome));
}

function problem({ problem }) {
  const id = problem?.request_id;
  return problem && el("p", { class: "problem" }, problem.message, id ? el("span", { class: "hint" }, ` (${id})`) : null);
}

// The text with a button for each marker; sentences without support are underlined.
function answer({ text, finish, parents }) {
  if (!text) return null;
  const all = points(text);
  const unsupported = (finish?.warnings || [])
    .filter((one) => one.kind === "KIND_UNSUPPORTED_SENTENCE" && one.text_end)
    .map((one) => ({ start: one.text_start, end: one.text_end }));
  const body = pieces(all.length, unsupported).map((piece) => {
    const made = marked(all.slice(piece.start, piece.end).join(""), parents.length);
    return piece.ranges.length ? el("span", { class: "unsupported", title: t("KIND_UNSUPPORTED_SENTENCE") }, made) : made;
  });
  return el("div", { class: "answer", id: "answer", lang: /[а-яё]/i.test(text) ? "ru" : "en" }, body.flat());
}

function marked(text, sources) {
  return text.split(/(\[\d+\])/).map((part) => {
    const rank = Number(part.match(/^\[(\d+)\]$/)?.[1]);
    if (!rank || rank > sources) return part;
    return el("button", { type: "button", class: "marker", "aria-label": `${t("source")} ${rank}`, onclick: () => openSource(rank) }, part);
  });
}

function openSource(rank) {
  const source = document.getElementById(`source-${rank}`);
  source.open = true;
  source.querySelector("summary").focus();
  (source.querySelector("mark") || source).scrollIntoView({ block: "center" });
}

function warnings({ finish }) {
  if (!finish?.warnings.length) return null;
  return el("div", { class: "warnings" }, el("h2", {}, t("warnings")),
    el("ul", {}, finish.warnings.map((one) => el("li", {}, t(one.kind), one.detail ? el("span", { class: "hint" }, `: ${one.detail}`) : null))));
}

function actions({ finish, text, parents }) {
  if (!finish || !text) return null;
  const cited = new Set(finish.citations.map((one) => one.marker));
  const named = parents.filter((one) => cited.has(one.rank)).map(({ rank, document: about }) => `[${rank}] ${about.title} ${about.source_uri}`.trim());
  // Browsers keep the clipboard from pages that came over plain HTTP from another machine.
  const copy = navigator.clipboard && el("button", { type: "button", class: "plain", onclick: async () => {
    await navigator.clipboard.writeText([text.trim(), ...named].join("\n"));
    copy.textContent = t("copied");
  } }, t("copy"));
  return el("div", { class: "row actions" }, copy,
    el("button", { type: "button", class: "plain", onclick: () => window.print() }, t("print")));
}

function sources({ parents, finish }) {
  if (!parents.length) return null;
  // What did not suffice for an answer is the source of none.
  const heading = finish?.outcome === "OUTCOME_INSUFFICIENT_EVIDENCE" ? "nearest" : "sources";
  return el("div", { class: "sources" }, el("h2", {}, t(heading)),
    parents.map((parent) => passage(parent, (finish?.citations || []).filter((one) => one.marker === parent.rank))));
}

const milliseconds = (duration) => Math.round(parseFloat(duration || "0") * 1000);

function stages({ finish }) {
  const list = finish?.stages || [];
  if (!list.length) return null;
  const longest = Math.max(1, ...list.map((one) => milliseconds(one.duration)));
  return el("details", { class: "stages", id: "stages" }, el("summary", {}, t("stages")),
    el("table", {}, el("tbody", {}, list.map((one) => el("tr", {}, el("th", { scope: "row" }, t(`stage_${one.name}`, one.name)),
      el("td", { class: "number" }, `${milliseconds(one.duration)} ${t("ms")}`),
      el("td", {}, el("meter", { min: 0, max: longest, value: milliseconds(one.duration), "aria-label": one.name })),
      el("td", {}, one.outcome === "ok" ? "" : one.outcome))))));
}

function rating({ finish, requestId }) {
  return finish && !finish.error ? feedback(requestId) : null;
}

// One answer as it comes in: outcome, text with its markers, warnings, sources, times, feedback.

import { el } from "./dom.js";
import { feedback } from "./feedback.js";
import { passage, pieces, points } from "./passage.js";
import { t } from "./words.js";

export function show(place, state) {
  const { finish } = state;
  const parts = [banner(state)];
  if (state.problem) parts.push(el("p", { class: "problem" }, state.problem.message, requestId(state.problem.request_id)));
  if (state.text) parts.push(el("div", { class: "answer", id: "answer" }, body(state)));
  if (finish?.warnings.length) parts.push(warnings(finish.warnings));
  if (finish && state.text) parts.push(actions(state));
  if (state.parents.length) parts.push(sources(state));
  if (finish?.stages.length) parts.push(stages(finish.stages));
  if (finish && !finish.error) parts.push(feedback(state.requestId, state.parents.length));
  place.replaceChildren(...parts);
  place.hidden = false;
}

function banner({ finish, problem, stopped, text }) {
  if (problem) return el("p", { class: "banner bad" }, t("failed"));
  if (stopped) return el("p", { class: "banner wait" }, t("stopped"));
  if (!finish) return el("p", { class: "banner wait" }, t(text ? "answering" : "searching"));
  const kind = { OUTCOME_ANSWERED: "good", OUTCOME_INSUFFICIENT_EVIDENCE: "warn" }[finish.outcome] || "off";
  return el("p", { class: `banner ${kind}`, id: "outcome" }, t(finish.outcome));
}

const requestId = (id) => (id ? el("span", { class: "hint" }, ` (${id})`) : null);

// The text with a button for each marker; sentences without support are underlined.
function body({ text, finish, parents }) {
  const all = points(text);
  const unsupported = (finish?.warnings || [])
    .filter((one) => one.kind === "KIND_UNSUPPORTED_SENTENCE" && one.text_end)
    .map((one) => ({ start: one.text_start, end: one.text_end }));
  return pieces(all.length, unsupported).map((piece) => {
    const made = marked(all.slice(piece.start, piece.end).join(""), parents.length);
    return piece.ranges.length ? el("span", { class: "unsupported", title: t("KIND_UNSUPPORTED_SENTENCE") }, made) : made;
  }).flat();
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

function warnings(list) {
  return el("div", { class: "warnings" }, el("h2", {}, t("warnings")),
    el("ul", {}, list.map((one) => el("li", {}, t(one.kind), one.detail ? el("span", { class: "hint" }, ` ${one.detail}`) : null))));
}

function actions({ text }) {
  const copy = el("button", { type: "button", class: "plain", onclick: async () => {
    await navigator.clipboard.writeText(text);
    copy.textContent = t("copied");
  } }, t("copy"));
  return el("div", { class: "row actions" }, copy,
    el("button", { type: "button", class: "plain", onclick: () => window.print() }, t("print")));
}

function sources({ parents, finish }) {
  return el("div", { class: "sources" }, el("h2", {}, t("sources")),
    parents.map((parent) => passage(parent, (finish?.citations || []).filter((one) => one.marker === parent.rank))));
}

const milliseconds = (duration) => Math.round(parseFloat(duration || "0") * 1000);

function stages(list) {
  const longest = Math.max(1, ...list.map((one) => milliseconds(one.duration)));
  return el("details", { class: "stages" }, el("summary", {}, t("stages")),
    el("table", {}, el("tbody", {}, list.map((one) => el("tr", {}, el("th", { scope: "row" }, one.name),
      el("td", { class: "number" }, `${milliseconds(one.duration)} ${t("ms")}`),
      el("td", {}, el("meter", { min: 0, max: longest, value: milliseconds(one.duration), "aria-label": one.name })),
      el("td", {}, one.outcome === "ok" ? "" : one.outcome))))));
}

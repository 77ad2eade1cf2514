// The curators' queue: one version at a time with what a reviewer should look at, and the decision.

import { ask, stream } from "./api.js";
import { byId, el, link } from "./dom.js";
import { known } from "./sign.js";
import { t } from "./words.js";

const spaced = (word) => word.replaceAll("_", " ");
const name = (state) => t(state, spaced(state.replace("STATE_", "").toLowerCase()));
const flagged = (flag) => {
  const [what, ...which] = flag.split(":");
  return [t(`flag_${what}`, spaced(what)), ...which].join(": ");
};

export async function queue() {
  const place = byId("queue");
  try {
    const found = await ask("/v1/documents/list", { states: ["STATE_IN_REVIEW", "STATE_APPROVED"], page_size: 200 });
    const rows = found.documents.map((one) => el("li", {}, el("button", {
      type: "button", class: "entry", onclick: (event) => choose(event.currentTarget, one) },
      el("strong", {}, one.metadata.title || one.metadata.document_id),
      el("span", { class: "hint" }, [one.metadata.topic, one.metadata.language, name(one.state)].filter(Boolean).join(" · ")),
      one.flags.map((flag) => el("span", { class: "badge warn" }, flagged(flag))))));
    place.replaceChildren(rows.length ? el("ul", { class: "entries" }, rows) : el("p", {}, t("empty")),
      el("button", { type: "button", class: "plain", onclick: () => queue() }, t("reload")));
    byId("version").replaceChildren(el("p", { class: "hint" }, rows.length ? t("choose") : ""));
  } catch (problem) {
    place.replaceChildren(el("p", { class: "problem" }, problem.message));
    known(problem, queue);
  }
}

async function choose(button, one) {
  document.querySelectorAll(".entry[aria-current]").forEach((other) => other.removeAttribute("aria-current"));
  button.setAttribute("aria-current", "true");
  const place = byId("version");
  try {
    const named = { document_id: one.metadata.document_id, version: one.version };
    place.replaceChildren(...shown(await ask("/v1/documents/get", named)));
    place.querySelector("h2").focus();
  } catch (problem) {
    place.replaceChildren(el("p", { class: "problem" }, problem.message));
    known(problem, () => choose(button, one));
  }
}

function shown(found) {
  const { metadata, flags, version, state } = found.document;
  return [
    el("h2", { tabindex: "-1" }, metadata.title || metadata.document_id),
    el("p", { class: "hint" }, [metadata.document_id, version, metadata.category, metadata.licence, name(state)].filter(Boolean).join(" · "), " ", link(metadata.source_uri, t("openSource"))),
    el("h3", {}, t("flags")),
    flags.length ? el("ul", {}, flags.map((flag) => el("li", {}, flagged(flag)))) : el("p", { class: "hint" }, t("noFlags")),
    ...scanned(found.pages), ...duplicates(found.near_duplicates), ...removed(found.removals), ...changes(found.changes, found.versions.length),
    el("details", {}, el("summary", {}, t("text")), el("pre", { class: "document", tabindex: "0", lang: metadata.language }, found.markdown)),
    el("details", {}, el("summary", {}, t("history")), el("ul", {}, found.history.map((one) =>
      el("li", {}, `${one.at.slice(0, 16).replace("T", " ")} ${t(`act_${one.act}`, one.act)} · ${one.subject}${one.reason ? ` · ${one.reason}` : ""}`)))),
    decision(metadata.document_id, version, state),
  ];
}

function scanned(pages) {
  const read = pages.filter((one) => one.confidence != null || one.reasons.length);
  if (!read.length) return [];
  return [el("h3", {}, t("ocr")), el("table", {},
    el("thead", {}, el("tr", {}, ["page", "engine", "confidence", "why"].map((one) => el("th", { scope: "col" }, t(one))))),
    el("tbody", {}, read.map((one) => el("tr", { class: one.confidence < 0.85 ? "unsure" : "" }, el("td", {}, String(one.page)), el("td", {}, one.engine),
      el("td", { class: "number" }, one.confidence == null ? "" : one.confidence.toFixed(2)), el("td", {}, one.reasons.join(", "))))))];
}

function duplicates(list) {
  if (!list.length) return [];
  return [el("h3", {}, t("duplicates")), el("ul", {}, list.map((one) =>
    el("li", {}, `${one.title || one.document_id} (${name(one.state)}, ${one.likeness.toFixed(2)})`)))];
}

// What cleaning took out or repaired, rule by rule: text that no search will find.
function removed(list) {
  if (!list.length) return [];
  return [el("h3", {}, t("removals")), ...list.map((one) => el("details", {},
    el("summary", {}, `${t(`rule_${one.rule}`, spaced(one.rule))}: ${one.count} (${one.characters} ${t("characters")})`),
    el("pre", { class: "removed", tabindex: "0" }, one.samples.map((sample) => sample.trim()).join("\n⋯\n"))))];
}

// Old on the left, new on the right, section by section.
function changes(list, versions) {
  if (!list.length) return versions > 1 ? [] : [el("p", { class: "hint" }, t("firstVersion"))];
  return [el("h3", {}, t("changes")), ...list.map((one) => el("section", { class: "change" },
    el("h4", {}, one.heading_path.join(" › ") || "—", el("span", { class: "badge" }, t(`kind_${one.kind}`, one.kind))),
    el("div", { class: "sides" }, side("before", "removed", one.removed_lines), side("after", "added", one.added_lines))))];
}

function side(label, kind, lines) {
  return el("div", {}, el("p", { class: "hint" }, t(label)), el("pre", { class: kind, tabindex: "0" }, lines.join("\n") || "—"));
}

function decision(document_id, version, state) {
  const said = el("p", { role: "status" });
  const reason = el("textarea", { id: "reason", rows: 2, maxlength: 2000 });
  const run = (act) => async () => {
    try {
      said.textContent = `${t("done")} ${await act()}`;
      await queue();
      byId("version").replaceChildren(said);
    } catch (problem) {
      said.textContent = problem.message;
      known(problem);
    }
  };
  const review = (decided) => async () => {
    if (decided === "DECISION_REJECT" && !reason.value.trim()) throw new Error(t("reasonNeeded"));
    const reply = await ask("/v1/documents/review", { document_id, version, decision: decided, reason: reason.value });
    return name(reply.state);
  };
  const publish = async () => {
    const { job_id } = await ask("/v1/documents/publish", { document_id, version });
    for await (const told of stream("/v1/jobs/watch", { job_id }, (told) => told.done)) {
      if (told.done && told.error) throw new Error(told.error);
      if (told.done) return name(told.state);
      said.textContent = `${told.stage} ${Math.round(told.progress * 100)} %`;
    }
  };
  const waiting = state === "STATE_IN_REVIEW";
  return el("div", { class: "decision" },
    waiting ? el("label", { for: "reason" }, t("reason")) : null, waiting ? reason : null,
    el("div", { class: "row" },
      waiting ? el("button", { type: "button", onclick: run(review("DECISION_APPROVE")) }, t("approve")) : null,
      waiting ? el("button", { type: "button", class: "danger", onclick: run(review("DECISION_REJECT")) }, t("reject")) : null,
      state === "STATE_APPROVED" ? el("button", { type: "button", onclick: run(publish) }, t("publish")) : null),
    said);
}

// The rating form of an expert study: a plan comes in as a file, ratings go out as the lines of ratings.jsonl.

import { byId, el } from "./dom.js";
import { ends, scale } from "./feedback.js";
import { t } from "./words.js";

const OF_ANSWER = ["correctness", "completeness", "clarity"];
const LOW = 1;
const HIGH = 5;
let plan = null;

export function study() {
  const file = el("input", { type: "file", accept: ".json,application/json", id: "plan", onchange: () => open(file) });
  byId("study").replaceChildren(el("p", { class: "hint" }, t("studyHelp")),
    el("label", { for: "plan" }, t("open")), file, el("p", { role: "alert", id: "plan-fault" }), el("div", { id: "rater" }));
  if (plan) raters();
}

async function open(file) {
  try {
    plan = JSON.parse(await file.files[0].text());
    if (![plan.groups, plan.questions].every(Array.isArray) || typeof plan.group_of !== "object") throw new Error();
    byId("plan-fault").textContent = "";
    raters();
  } catch {
    plan = null;
    byId("plan-fault").textContent = t("badPlan");
  }
}

function raters() {
  const names = plan.groups.flat().map((one) => one.name);
  const select = el("select", { id: "rater-name", onchange: () => form(select.value) },
    el("option", { value: "" }, ""), names.map((one) => el("option", { value: one }, one)));
  byId("rater").replaceChildren(el("label", { for: "rater-name" }, t("rater")), select, el("div", { id: "questions" }));
}

function form(rater) {
  const place = byId("questions");
  if (!rater) return place.replaceChildren();
  const group = plan.groups.findIndex((some) => some.some((one) => one.name === rater));
  const questions = plan.questions.filter((one) => plan.group_of[one.id] === group);
  const kept = storage(rater);
  const given = kept.read();
  const wanted = questions.reduce((sum, one) => sum + OF_ANSWER.length + one.sources.length, 0);
  const count = el("p", { role: "status", class: "progress" });
  const tell = () => (count.textContent = `${Object.keys(given).length} / ${wanted} ${t("progress")}`);
  const rate = (key) => (value) => {
    given[key] = value;
    kept.write(given);
    tell();
  };
  tell();
  place.replaceChildren(count, ends(), ...questions.map((one) => card(one, given, rate)),
    el("div", { class: "row" }, el("button", { type: "button", onclick: () => save(rater, given) }, t("export"))));
}

// A question with its answer and sources; neither its author nor its department is shown.
function card(one, given, rate) {
  const ask = (criterion, rank, label) => {
    const key = JSON.stringify([one.id, criterion, rank]);
    return scale(criterion, LOW, HIGH, { label, group: key, value: given[key], onchange: rate(key) });
  };
  return el("article", { class: "card" }, el("h2", {}, one.question),
    el("div", { class: "answer" }, one.answer), OF_ANSWER.map((name) => ask(name, 0, t(name))),
    one.sources.map((text, index) => el("details", { class: "passage", open: true },
      el("summary", {}, `${t("source")} ${index + 1}`), el("div", { class: "text" }, text),
      ask("usefulness", index + 1, t("usefulness")))));
}

// Half a study must survive a closed tab: what was rated stays in this browser until it is exported.
function storage(rater) {
  const ids = plan.questions.map((one) => one.id).join("\n");
  const key = `radrag-study ${plan.seed} ${rater} ${ids.length}`;
  return {
    read: () => JSON.parse(localStorage.getItem(key) || "{}"),
    write: (given) => localStorage.setItem(key, JSON.stringify(given)),
  };
}

export function lines(rater, given) {
  return Object.entries(given).map(([key, value]) => {
    const [question, criterion, rank] = JSON.parse(key);
    return JSON.stringify({ rater, question, criterion, value, rank });
  });
}

function save(rater, given) {
  const url = URL.createObjectURL(new Blob([lines(rater, given).map((line) => `${line}\n`).join("")], { type: "application/jsonl" }));
  el("a", { href: url, download: "ratings.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

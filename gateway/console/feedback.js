// A rating of one answer by the six criteria; at least one has to be given.

import { ask } from "./api.js";
import { el } from "./dom.js";
import { known } from "./sign.js";
import { t } from "./words.js";

export const CRITERIA = ["relevance", "accuracy", "safety", "comprehensiveness", "conciseness", "language"];

export function feedback(requestId) {
  const said = el("p", { role: "status" });
  const form = el("form", { class: "feedback", onsubmit: async (event) => {
    event.preventDefault();
    const given = new FormData(form);
    const ratings = Object.fromEntries(CRITERIA.filter((name) => given.get(name)).map((name) => [name, Number(given.get(name))]));
    try {
      await ask("/v1/feedback", { request_id: requestId, ratings, comment: given.get("comment") });
      form.replaceChildren(el("p", { role: "status" }, t("thanks")));
    } catch (problem) {
      said.textContent = problem.message;
      known(problem);
    }
  } },
  ends(), CRITERIA.map((name) => scale(name, 1, 5)),
  el("label", {}, t("comment"), el("textarea", { name: "comment", rows: 2, maxlength: 4000 })),
  el("div", { class: "row" }, el("button", { type: "submit" }, t("send")), said));
  return el("details", { class: "rating", id: "rating" }, el("summary", {}, t("feedback")), form);
}

// Which end of the scale is the good one.
export const ends = () => el("p", { class: "hint" }, `${t("worst")}, ${t("best")}`);

// A question with one radio button for each number of its scale.
export function scale(name, low, high, { label = t(name), group = name, value, onchange } = {}) {
  const numbers = Array.from({ length: high - low + 1 }, (_, index) => low + index);
  return el("fieldset", { class: "scale" }, el("legend", {}, label),
    numbers.map((number) => el("label", {}, el("input", {
      type: "radio", name: group, value: number, checked: value === number,
      onchange: () => onchange?.(number) }), String(number))));
}

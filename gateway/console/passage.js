// A passage with its quoted ranges marked. Offsets are Unicode code points, not UTF-16 units.

import { el, link } from "./dom.js";
import { t } from "./words.js";

export const points = (text) => Array.from(text);

// Cuts [0, length) at the ranges' edges: [{start, end, ranges}], every piece with the ranges that cover it.
export function pieces(length, ranges) {
  const cuts = new Set([0, length]);
  for (const { start, end } of ranges) {
    if (start > 0 && start < length) cuts.add(start);
    if (end > 0 && end < length) cuts.add(end);
  }
  const edges = [...cuts].sort((a, b) => a - b);
  return edges.slice(0, -1).map((start, index) => ({
    start, end: edges[index + 1],
    ranges: ranges.filter((one) => one.start <= start && one.end >= edges[index + 1]),
  }));
}

export function passage(parent, citations, open) {
  const text = points(parent.text);
  const ranges = citations.map((one) => ({ start: one.start - parent.start, end: one.end - parent.start }));
  const body = pieces(text.length, ranges).map((piece) => {
    const slice = text.slice(piece.start, piece.end).join("");
    return piece.ranges.length ? el("mark", {}, slice) : slice;
  });
  const about = parent.document;
  const where = [about.topic, about.language, about.category, `${about.document_id}@${about.version.slice(0, 8)}`];
  if (parent.pages.length) where.push(`${t("pages")} ${parent.pages.join(", ")}`);
  return el("details", { class: "passage", id: `source-${parent.rank}`, open, lang: about.language },
    el("summary", {}, el("span", { class: "rank" }, `[${parent.rank}]`), el("span", {}, about.title),
      citations.length ? el("span", { class: "badge" }, citations.every((one) => one.verified) ? `✓ ${t("verified")}` : t("unverified")) : null),
    parent.heading_path.length ? el("p", { class: "path" }, parent.heading_path.join(" › ")) : null,
    parent.context ? el("pre", { class: "context" }, parent.context) : null,
    el("div", { class: parent.text.trimStart().startsWith("|") ? "text table" : "text", tabindex: "0", role: "group", "aria-label": `${t("source")} ${parent.rank}` }, body),
    el("p", { class: "path" }, where.filter(Boolean).join(" · "), " · ", link(about.source_uri, t("openSource"))));
}

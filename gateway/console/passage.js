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
  const cuts = pieces(text.length, citations.map((one) => ({ start: one.start - parent.start, end: one.end - parent.start })));
  const show = (start, end) => cuts.filter((piece) => piece.start < end && start < piece.end).map((piece) => {
    const slice = text.slice(Math.max(start, piece.start), Math.min(end, piece.end)).join("");
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
    el("div", { class: "text", tabindex: "0", role: "group", "aria-label": `${t("source")} ${parent.rank}` }, reading(parent.text, show)),
    el("p", { class: "path" }, where.filter(Boolean).join(" · "), " · ", link(about.source_uri, t("openSource"))));
}

// A passage's Markdown as it reads: headings, tables, lines; what is marked is marked wherever it comes to stand.
// `show(start, end)` gives the nodes for these code points.
export function reading(text, show) {
  const blocks = [];
  let start = 0;
  for (const line of text.split("\n")) {
    const row = { line, start, end: start + points(line).length };
    const last = blocks.at(-1);
    if (/^\|.*\|\s*$/.test(line) && last?.rows) last.rows.push(row);
    else blocks.push(/^\|.*\|\s*$/.test(line) ? { rows: [row] } : { row });
    start = row.end + 1;
  }
  return blocks.map((block) => (block.rows ? table(block.rows, show) : lineOf(block.row, show)));
}

function lineOf({ line, start, end }, show) {
  const [heading] = line.match(/^#{1,6} /) || [""];
  return el("div", { class: heading ? "heading" : "line" }, show(start + heading.length, end));
}

function table(rows, show) {
  const ruled = /^\|[\s:|-]+\|\s*$/;
  const head = rows.length > 1 && ruled.test(rows[1].line);
  return el("table", {}, el("tbody", {}, rows.filter(({ line }) => !ruled.test(line)).map((row, index) =>
    el("tr", {}, cells(row).map(([start, end]) => el(head && !index ? "th" : "td", head && !index ? { scope: "col" } : {}, show(start, end)))))));
}

// The cells' ranges in a row; a bar behind a backslash is text.
function cells({ line, start }) {
  const found = [];
  let at = start + 1;
  for (const cell of line.trimEnd().slice(1, -1).split(/(?<!\\)\|/)) {
    const length = points(cell).length;
    const lead = cell.length - cell.trimStart().length;
    found.push([at + lead, Math.max(at + lead, at + length - (cell.length - cell.trimEnd().length))]);
    at += length + 1;
  }
  return found;
}

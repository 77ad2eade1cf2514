// Starts the page: sections by address, question and answer, language, theme, sign-in.

import { ask, stream } from "./api.js";
import { show } from "./answer.js";
import { byId, el } from "./dom.js";
import { queue } from "./review.js";
import { study } from "./rate.js";
import * as sign from "./sign.js";
import { language, speak, t, translate } from "./words.js";

const VIEWS = ["ask", "review", "rate"];
let running = null;
let last = null;

function view() {
  const wanted = VIEWS.includes(location.hash.slice(1)) ? location.hash.slice(1) : "ask";
  for (const name of VIEWS) {
    byId(`view-${name}`).hidden = name !== wanted;
    document.querySelector(`nav a[href="#${name}"]`).toggleAttribute("aria-current", name === wanted);
  }
  document.title = `${t(wanted)} · RadRAG`;
  if (wanted === "review") queue();
  if (wanted === "rate") study();
}

async function topics() {
  const chosen = new Set(checked());
  try {
    const info = await ask("/v1/info");
    byId("topics").replaceChildren(el("legend", {}, t("topics")), ...info.topics.map((name) =>
      el("label", {}, el("input", { type: "checkbox", value: name, checked: chosen.has(name) }), name.replaceAll("_", " "))));
  } catch (problem) {
    sign.known(problem, topics);
  }
}

const checked = () => [...document.querySelectorAll("#topics input:checked")].map((one) => one.value);

async function answer(event) {
  event?.preventDefault();
  const question = byId("question").value.trim();
  if (!question) return;
  running?.abort();
  const mine = (running = new AbortController());
  const state = (last = { question, asked: new Date(), text: "", parents: [], finish: null, problem: null, requestId: "" });
  const draw = () => last === state && show(byId("result"), state);
  busy(true);
  draw();
  const filter = { topics: checked(), ...(byId("as-of").value ? { as_of: byId("as-of").value } : {}) };
  try {
    for await (const frame of stream("/v1/generate", { question, filter }, (frame) => frame.finish, mine.signal)) {
      take(state, frame);
      draw();
    }
  } catch (problem) {
    if (problem.name === "AbortError") state.stopped = true;
    else state.problem = problem;
    sign.known(problem, answer);
  }
  draw();
  if (running === mine) busy(false);
  byId("status").textContent = state.problem?.message || t(state.finish?.outcome || "stopped");
}

function take(state, frame) {
  if (frame.sources) Object.assign(state, { parents: frame.sources.ranked_parents, requestId: frame.sources.request_id });
  if (frame.text) state.text += frame.text;
  if (frame.finish) state.finish = frame.finish;
  if (frame.finish?.error) state.problem = new Error(frame.finish.error.message);
}

function busy(on) {
  byId("stop").hidden = !on;
  byId("result").setAttribute("aria-busy", on);
  if (!on) running = null;
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  localStorage.setItem("radrag-theme", name);
}

function start() {
  if (localStorage.getItem("radrag-theme")) theme(localStorage.getItem("radrag-theme"));
  byId("theme").onclick = () => {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    theme(dark ? "light" : "dark");
  };
  byId("language").onclick = () => {
    speak(language() === "ru" ? "en" : "ru");
    label();
    topics();
    view();
    if (last) show(byId("result"), last);
  };
  byId("sign").onclick = () => sign.toggle(() => { topics(); view(); });
  document.querySelector(".skip").onclick = (event) => { event.preventDefault(); byId("main").focus(); };
  byId("ask-form").onsubmit = answer;
  byId("stop").onclick = () => running?.abort();
  byId("question").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) answer(event);
  });
  document.addEventListener("keydown", (event) => event.key === "Escape" && running?.abort());
  window.addEventListener("hashchange", () => { view(); byId("main").focus(); });
  window.addEventListener("beforeprint", () => document.querySelectorAll(".passage:has(mark)").forEach((one) => (one.open = true)));
  translate();
  label();
  topics();
  view();
}

function label() {
  const other = language() === "ru" ? ["EN", "English"] : ["RU", "Русский"];
  byId("language").textContent = other[0];
  byId("language").setAttribute("aria-label", other[1]);
  sign.label();
}

start();

// What the page says, in two languages; the answer's language is the question's.

const EN = {
  skip: "Skip to content", ask: "Ask", review: "Review", rate: "Rate", theme: "Theme", sign: "Sign in",
  askHeading: "Ask the knowledge base", question: "Question, in English or Russian", filters: "Filters",
  topics: "Topics", asOf: "Sources in force on", stop: "Stop", keys: "Ctrl+Enter asks, Esc stops",
  reviewHeading: "Documents waiting for review", rateHeading: "Expert study", ok: "OK", cancel: "Cancel",
  footer: "Answers quote approved documents only. They do not replace a physician’s judgement.",
  credential: "Token or key; kept until this tab is closed",
  OUTCOME_ANSWERED: "Answered from the sources",
  OUTCOME_INSUFFICIENT_EVIDENCE: "Not enough evidence in the knowledge base",
  OUTCOME_OUT_OF_SCOPE: "Outside what this service answers",
  searching: "Searching…", answering: "Answering…", failed: "The answer failed", stopped: "Stopped",
  sources: "Sources", source: "Source", warnings: "Please note", stages: "Where the time went", ms: "ms",
  openSource: "Open the source", pages: "pages", verified: "quote checked", unverified: "quote not checked",
  copy: "Copy", copied: "Copied", print: "Print",
  KIND_CONFLICTING_SOURCES: "Sources disagree", KIND_UNSUPPORTED_SENTENCE: "A sentence has no support in the sources",
  KIND_TRUNCATED: "Cut short", KIND_DEGRADED: "A part of the service was missing", KIND_OTHER_LANGUAGE: "Quotes are in another language than the question",
  KIND_RERANK_ROW_FAILED: "Some passages could not be ranked", KIND_MARKER_REMOVED: "References to no source were removed",
  KIND_PARTIAL_ANSWER: "The sources answer only in part",
  feedback: "Rate this answer", relevance: "Answers what was asked", accuracy: "Right", safety: "Safe",
  comprehensiveness: "Complete", conciseness: "Free of ballast", language: "Professional language",
  comment: "Comment", send: "Send", thanks: "Thank you, the rating is stored.", worst: "1 worst", best: "5 best",
  empty: "Nothing waits for review.", reload: "Reload", choose: "Choose a document on the left.",
  flags: "Look at", noFlags: "No flags.", changes: "Changes since the version in force", before: "Before", after: "Now",
  firstVersion: "First version: nothing to compare with.", duplicates: "Nearly the same text", ocr: "Pages read by OCR",
  page: "Page", engine: "Engine", confidence: "Confidence", text: "Text", history: "History", reason: "Reason (required to reject)",
  approve: "Approve", publish: "Publish", reject: "Reject", done: "Now:", reasonNeeded: "A rejection needs a reason.",
  studyHelp: "Open the study’s plan (JSON), choose your name, rate, and export the ratings for radrag eval experts.",
  open: "Open a plan", rater: "Your name in the plan", export: "Export ratings", progress: "rated", remark: "Remark",
  correctness: "Correctness", completeness: "Completeness", clarity: "Clarity", usefulness: "Usefulness",
  badPlan: "This file is not a study plan.", resumed: "Ratings kept in this browser were loaded.", answer: "Answer",
};
const RU = {
  skip: "К содержанию", ask: "Спросить", review: "Проверка", rate: "Оценка", theme: "Тема", sign: "Войти",
  askHeading: "Вопрос к базе знаний", question: "Вопрос на русском или английском", filters: "Фильтры",
  topics: "Темы", asOf: "Источники, действующие на дату", stop: "Стоп", keys: "Ctrl+Enter — спросить, Esc — остановить",
  reviewHeading: "Документы на проверке", rateHeading: "Экспертное исследование", ok: "ОК", cancel: "Отмена",
  footer: "Ответы цитируют только утверждённые документы и не заменяют решения врача.",
  credential: "Токен или ключ; хранится, пока открыта вкладка",
  OUTCOME_ANSWERED: "Ответ дан по источникам", OUTCOME_INSUFFICIENT_EVIDENCE: "В базе знаний недостаточно сведений",
  OUTCOME_OUT_OF_SCOPE: "Вопрос вне области этой службы",
  searching: "Поиск…", answering: "Ответ готовится…", failed: "Ответ не получен", stopped: "Остановлено",
  sources: "Источники", source: "Источник", warnings: "Обратите внимание", stages: "Время по этапам", ms: "мс",
  openSource: "Открыть источник", pages: "страницы", verified: "цитата проверена", unverified: "цитата не проверена",
  copy: "Копировать", copied: "Скопировано", print: "Печать",
  KIND_CONFLICTING_SOURCES: "Источники расходятся", KIND_UNSUPPORTED_SENTENCE: "Предложение не подтверждено источниками",
  KIND_TRUNCATED: "Сокращено", KIND_DEGRADED: "Часть службы была недоступна", KIND_OTHER_LANGUAGE: "Цитаты не на языке вопроса",
  KIND_RERANK_ROW_FAILED: "Часть фрагментов не ранжирована", KIND_MARKER_REMOVED: "Удалены ссылки на несуществующие источники",
  KIND_PARTIAL_ANSWER: "Источники отвечают лишь частично",
  feedback: "Оценить ответ", relevance: "Отвечает на вопрос", accuracy: "Верно", safety: "Безопасно",
  comprehensiveness: "Полно", conciseness: "Без лишнего", language: "Профессиональный язык",
  comment: "Комментарий", send: "Отправить", thanks: "Спасибо, оценка сохранена.", worst: "1 худшая", best: "5 лучшая",
  empty: "На проверке ничего нет.", reload: "Обновить", choose: "Выберите документ слева.",
  flags: "Проверьте", noFlags: "Пометок нет.", changes: "Изменения относительно действующей версии", before: "Было", after: "Стало",
  firstVersion: "Первая версия: сравнивать не с чем.", duplicates: "Почти тот же текст", ocr: "Страницы, распознанные OCR",
  page: "Страница", engine: "Система", confidence: "Уверенность", text: "Текст", history: "История", reason: "Причина (обязательна при отказе)",
  approve: "Утвердить", publish: "Опубликовать", reject: "Отклонить", done: "Теперь:", reasonNeeded: "Отказ требует причины.",
  studyHelp: "Откройте план исследования (JSON), выберите своё имя, поставьте оценки и выгрузите их для radrag eval experts.",
  open: "Открыть план", rater: "Ваше имя в плане", export: "Выгрузить оценки", progress: "оценено", remark: "Замечание",
  correctness: "Правильность", completeness: "Полнота", clarity: "Ясность", usefulness: "Полезность",
  badPlan: "Этот файл не план исследования.", resumed: "Загружены оценки, сохранённые в этом браузере.", answer: "Ответ",
};

let chosen = localStorage.getItem("radrag-language") || (navigator.language.startsWith("ru") ? "ru" : "en");
export const language = () => chosen;
export const t = (name) => (chosen === "ru" ? RU : EN)[name] ?? name;

export function speak(name) {
  chosen = name;
  localStorage.setItem("radrag-language", name);
  translate();
}

export function translate() {
  document.documentElement.lang = chosen;
  for (const one of document.querySelectorAll("[data-t]")) one.textContent = t(one.dataset.t);
}

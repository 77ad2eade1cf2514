// What the page says, in two languages; the answer's language is the question's.

const EN = {
  skip: "Skip to content", ask: "Ask", review: "Review", rate: "Rate", theme: "Theme", sign: "Sign in", signOut: "Sign out",
  askHeading: "Ask the knowledge base", question: "Question, in English or Russian", filters: "Filters",
  topics: "Topics", asOf: "Sources in force on", stop: "Stop", keys: "Ctrl+Enter asks, Esc stops",
  reviewHeading: "Documents waiting for review", rateHeading: "Expert study", ok: "OK", cancel: "Cancel",
  footer: "Answers quote approved documents only. They do not replace a physician’s judgement.",
  credential: "Token or key; kept until this tab is closed", refused: "The token or key is no longer taken; it may have expired.",
  unreachable: "The service cannot be reached. Try again in a moment.",
  lost: "The connection broke before the end. What came stands below; ask again for the whole.",
  retry: (seconds) => `Try again in ${seconds} s.`,
  OUTCOME_ANSWERED: "Answered from the sources",
  OUTCOME_INSUFFICIENT_EVIDENCE: "Not enough evidence in the knowledge base",
  OUTCOME_OUT_OF_SCOPE: "Outside what this service answers",
  searching: "Searching…", answering: "Answering…", failed: "The answer failed", stopped: "Stopped",
  sources: "Sources", nearest: "Nearest passages, too little for an answer", source: "Source", warnings: "Please note", stages: "Where the time went", ms: "ms",
  stage_scope: "scope", stage_embed: "embed", stage_search: "search", stage_rerank: "rerank", stage_prompt: "prompt", stage_generate: "generate", stage_verify: "verify",
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
  page: "Page", why: "Why", engine: "Engine", confidence: "Confidence", text: "Text", history: "History", reason: "Reason (required to reject)",
  rule_contents: "table of contents", rule_references: "references", rule_page_number: "page numbers", rule_running_line: "running lines", rule_authors: "authors", rule_acknowledgements: "acknowledgements", rule_letters: "letters repaired", rule_hyphenation: "hyphens at line ends", rule_blanks: "blanks",
  removals: "Taken out by cleaning", characters: "characters", kind_added: "added", kind_removed: "removed", kind_changed: "changed",
  flag_near_duplicate: "near duplicate", flag_same_source: "same source address", flag_mostly_pictures: "mostly pictures",
  flag_guessed_encoding: "the encoding was guessed",
  flag_low_ocr_confidence: "OCR is unsure", flag_ocr_failed: "OCR failed", flag_doubtful_text: "doubtful text", flag_mixed_alphabets: "mixed alphabets",
  approve: "Approve", publish: "Publish", reject: "Reject", done: "Now:", reasonNeeded: "A rejection needs a reason.",
  studyHelp: "Open the study’s plan (JSON), choose your name, rate, and export the ratings for radrag eval experts.",
  open: "Open a plan", rater: "Your name in the plan", export: "Export ratings", progress: "rated",
  correctness: "Correctness", completeness: "Completeness", clarity: "Clarity", usefulness: "Usefulness",
  badPlan: "This file is not a study plan.", resumed: "Ratings kept in this browser were loaded.", answer: "Answer",
};
const RU = {
  skip: "К содержанию", ask: "Спросить", review: "Проверка", rate: "Оценка", theme: "Тема", sign: "Войти", signOut: "Выйти",
  askHeading: "Вопрос к базе знаний", question: "Вопрос на русском или английском", filters: "Фильтры",
  topics: "Темы", asOf: "Источники, действующие на дату", stop: "Стоп", keys: "Ctrl+Enter — спросить, Esc — остановить",
  reviewHeading: "Документы на проверке", rateHeading: "Экспертное исследование", ok: "ОК", cancel: "Отмена",
  footer: "Ответы цитируют только утверждённые документы и не заменяют решения врача.",
  credential: "Токен или ключ; хранится, пока открыта вкладка", refused: "Токен или ключ больше не принимается; возможно, его срок истёк.",
  unreachable: "Служба недоступна. Повторите попытку чуть позже.",
  lost: "Связь прервалась до конца ответа. Ниже то, что успело прийти; задайте вопрос снова.",
  retry: (seconds) => `Повторите через ${seconds} с.`,
  OUTCOME_ANSWERED: "Ответ дан по источникам", OUTCOME_INSUFFICIENT_EVIDENCE: "В базе знаний недостаточно сведений",
  OUTCOME_OUT_OF_SCOPE: "Вопрос вне области этой службы",
  searching: "Поиск…", answering: "Ответ готовится…", failed: "Ответ не получен", stopped: "Остановлено",
  sources: "Источники", nearest: "Ближайшие фрагменты, для ответа их мало", source: "Источник", warnings: "Обратите внимание", stages: "Время по этапам", ms: "мс",
  stage_scope: "область", stage_embed: "вектор вопроса", stage_search: "поиск", stage_rerank: "ранжирование", stage_prompt: "запрос к модели", stage_generate: "генерация", stage_verify: "проверка",
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
  page: "Страница", why: "Почему", engine: "Система", confidence: "Уверенность", text: "Текст", history: "История", reason: "Причина (обязательна при отказе)",
  rule_contents: "оглавление", rule_references: "список литературы", rule_page_number: "номера страниц", rule_running_line: "колонтитулы", rule_authors: "авторы", rule_acknowledgements: "благодарности", rule_letters: "исправленные буквы", rule_hyphenation: "переносы", rule_blanks: "пробелы",
  removals: "Удалено при очистке", characters: "знаков", kind_added: "добавлено", kind_removed: "удалено", kind_changed: "изменено",
  flag_near_duplicate: "почти повтор", flag_same_source: "тот же адрес источника", flag_mostly_pictures: "в основном рисунки",
  flag_guessed_encoding: "кодировка угадана",
  flag_low_ocr_confidence: "OCR не уверен", flag_ocr_failed: "OCR не сработал", flag_doubtful_text: "сомнительный текст", flag_mixed_alphabets: "смешение алфавитов",
  STATE_IN_REVIEW: "на проверке", STATE_APPROVED: "утверждён", STATE_PUBLISHED: "опубликован", STATE_REJECTED: "отклонён", STATE_SUPERSEDED: "заменён", STATE_EXPIRED: "истёк", STATE_RETIRED: "изъят",
  act_parse: "разбор", act_submit: "подача", act_fail: "ошибка", act_vote: "голос", act_approve: "утверждение", act_reject: "отклонение", act_publish: "публикация", act_supersede: "замена", act_end: "окончание срока", act_expire: "истечение", act_retire: "изъятие", act_retry: "повтор", act_delete: "удаление",
  approve: "Утвердить", publish: "Опубликовать", reject: "Отклонить", done: "Теперь:", reasonNeeded: "Отказ требует причины.",
  studyHelp: "Откройте план исследования (JSON), выберите своё имя, поставьте оценки и выгрузите их для radrag eval experts.",
  open: "Открыть план", rater: "Ваше имя в плане", export: "Выгрузить оценки", progress: "оценено",
  correctness: "Правильность", completeness: "Полнота", clarity: "Ясность", usefulness: "Полезность",
  badPlan: "Этот файл не план исследования.", resumed: "Загружены оценки, сохранённые в этом браузере.", answer: "Ответ",
};

let chosen = localStorage.getItem("radrag-language") || (navigator.language.startsWith("ru") ? "ru" : "en");
export const language = () => chosen;
export const t = (name, otherwise = name) => (chosen === "ru" ? RU : EN)[name] ?? otherwise;

export function speak(name) {
  chosen = name;
  localStorage.setItem("radrag-language", name);
  translate();
}

export function translate() {
  document.documentElement.lang = chosen;
  for (const one of document.querySelectorAll("[data-t]")) one.textContent = t(one.dataset.t);
}

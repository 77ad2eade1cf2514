"""The English and Russian texts on which a conversion proves itself: sentences, templates and paragraphs."""

ENGLISH = """\
The annual effective dose limit for occupational exposure is 20 mSv, averaged over five years.
Is gadolinium contrast allowed when the eGFR is below 30 ml/min/1.73 m²?
A BI-RADS 4A lesion has a low suspicion for malignancy (2–10 %).
What slice thickness does the low-dose chest CT protocol ask for?
Solid nodules under 6 mm in low-risk patients need no routine follow-up.
The T2-weighted sequence shows a hyperintense signal in the left hippocampus.
Lead aprons of 0.25 mm attenuate about 90% of scattered radiation at 80 kVp.
Report: no focal consolidation, no pleural effusion, heart size within normal limits.
CTDIvol is given in milligray, the dose–length product in mGy·cm.
How long must a nursing mother wait after an injection of 99mTc?
Hounsfield units: water 0, air −1000, fat from −120 to −60.
The aortic root measures 38 mm; the upper limit of normal is 40 mm.
See section 4.2.1 and table 7 for the list of contraindications.
Stop metformin 48 hours before an intra-arterial injection with first-pass renal exposure.
X-ray
Ultrasound of the thyroid: TI-RADS 3 nodule, 14 × 9 mm, right lobe.
What is the half-life of fluorine-18, and how is it made?
A pneumothorax may be missed on a supine film; look for the deep sulcus sign.
“Quality assurance” means planned and systematic actions — not a single test.
The café's naïve façade was coöperatively restored.
Artefacts: motion, metal, aliasing, chemical shift, zipper.
Does an MR-conditional pacemaker permit a 3 T scan?
Call +1 (555) 010-9999 or write to desk@example.org before 17:30.
SELECT modality, COUNT(*) FROM studies WHERE dose > 10 GROUP BY modality;
The committee met on Thursday, 14 March 2024, and adjourned at noon.
Photosynthesis turns light into chemical energy stored in glucose.
A quick brown fox jumps over the lazy dog.
E = mc² and pV = nRT are short; their consequences are not.
Turn left at the traffic lights and walk two hundred metres.
Emoji survive too: 😀 🩻 🚑
Never repeat an exposure to save time: justify it, record it, learn from it.
Median age 57 (IQR 44–69); AUC 0.93, 95% CI 0.91–0.95, p < 0.001.
""".splitlines()

RUSSIAN = """\
Предел эффективной дозы для персонала — 20 мЗв в год в среднем за пять лет.
Можно ли вводить гадолиний при СКФ ниже 30 мл/мин/1,73 м²?
Категория BI-RADS 4A означает низкую вероятность злокачественности (2–10 %).
Какая толщина среза нужна в протоколе низкодозной КТ грудной клетки?
Солидные очаги менее 6 мм у пациентов низкого риска наблюдения не требуют.
На Т2-ВИ отмечается гиперинтенсивный сигнал в левом гиппокампе.
Фартук со свинцовым эквивалентом 0,25 мм ослабляет рассеянное излучение примерно на 90 %.
Заключение: очаговых и инфильтративных теней не выявлено, синусы свободны.
CTDIvol измеряют в мГр, произведение дозы на длину — в мГр·см.
Сколько ждать кормящей матери после введения технеция-99m?
Шкала Хаунсфилда: вода 0, воздух −1000, жир от −120 до −60 HU.
Диаметр корня аорты 38 мм, верхняя граница нормы 40 мм.
Перечень противопоказаний приведён в пункте 4.2.1 и таблице 7.
Метформин отменяют за 48 часов до внутриартериального введения контраста.
рентген
УЗИ щитовидной железы: узел TI-RADS 3 в правой доле, 14 × 9 мм.
Чему равен период полураспада фтора-18 и как его получают?
Пневмоторакс на снимке лёжа легко пропустить: ищите углублённый синус.
«Обеспечение качества» — это плановые и систематические действия, а не разовая проверка.
Съешь ещё этих мягких французских булок, да выпей чаю.
Артефакты: движение, металл, наложение, химический сдвиг.
Допустима ли МРТ 3 Тл при кардиостимуляторе, условно совместимом с МР?
Звоните по телефону 8 (800) 555-35-35 или приходите до 17:30.
Приказ Минздрава России от 09.06.2020 № 560н утверждает правила исследований.
Комиссия собралась в четверг, 14 марта 2024 г., и закончила в полдень.
Фотосинтез превращает свет в химическую энергию глюкозы.
Широкая электрификация южных губерний даст мощный толчок подъёму сельского хозяйства.
ЁЖИК В ТУМАНЕ — мультфильм 1975 года.
На светофоре поверните налево и пройдите двести метров.
Смайлики тоже проходят: 😀 🩻 🚑
Не повторяйте облучение ради скорости: обоснуйте, запишите, сделайте вывод.
Медиана возраста 57 лет (МКИ 44–69); AUC 0,93, 95 % ДИ 0,91–0,95, p < 0,001.
""".splitlines()

TOPICS = [
    ("chest CT", "КТ грудной клетки"),
    ("brain MRI", "МРТ головного мозга"),
    ("mammography", "маммография"),
    ("knee radiography", "рентгенография коленного сустава"),
    ("abdominal ultrasound", "УЗИ брюшной полости"),
    ("fluorography", "флюорография"),
    ("PET/CT", "ПЭТ/КТ"),
    ("bone densitometry", "денситометрия"),
]
TEMPLATES = [
    ("What are the indications for {}?", "Каковы показания: {}?"),
    ("{}: how should the patient be prepared, and for how long?", "{}: как и сколько готовить пациента?"),
    ("Typical effective dose of {}, in mSv", "Типичная эффективная доза ({}), мЗв"),
    (
        "Report template, {}: technique; findings; conclusion.",
        "Шаблон протокола, {}: методика; описание; заключение.",
    ),
    ("Is {} safe in the second trimester of pregnancy?", "Безопасна ли {} во втором триместре беременности?"),
    ("Common pitfalls when reading {}, with examples", "Частые ошибки чтения ({}), с примерами"),
    (
        "Who may order {}, and who signs the result?",
        "Кто назначает исследование ({}) и кто подписывает протокол?",
    ),
    ("Which regulation sets the quality control of {}?", "Какой документ задаёт контроль качества: {}?"),
]
PARAGRAPH = 8


def sentences() -> list[str]:
    pairs = [
        (line, topic[side]) for lines in TEMPLATES for topic in TOPICS for side, line in enumerate(lines)
    ]
    filled = [line.format(topic) for line, topic in pairs]
    return [*ENGLISH, *RUSSIAN, *filled]


def paragraphs() -> list[str]:
    """Longer texts: eight sentences of one language, a language change in the middle, and one of 32."""
    both = [*ENGLISH, *RUSSIAN]
    pieces = [" ".join(both[start : start + PARAGRAPH]) for start in range(0, len(both), PARAGRAPH)]
    mixed = [" ".join([*ENGLISH[at : at + 4], *RUSSIAN[at : at + 4]]) for at in range(0, len(ENGLISH), 4)]
    return [*pieces, *mixed, "\n\n".join(ENGLISH[:24]), "\n".join(f"- {line}" for line in RUSSIAN[:18])]


TEXTS = [
    *sentences(),
    *paragraphs(),
    "the   text   has    many  blanks",
    "tabs\tand\r\nline\n\nends",
    "ﬁ ＡＢＣ １２３ № ½",
]

// Makes elements: text is always text, never markup.

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child != null));
  return made;
}

export const byId = (id) => document.getElementById(id);

// Only what a browser may follow from here: a document's address is data.
export function link(uri, text) {
  return /^https?:\/\//.test(uri)
    ? el("a", { href: uri, rel: "noopener noreferrer", target: "_blank" }, text)
    : el("span", {}, uri || "");
}

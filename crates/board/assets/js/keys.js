// What pages do beyond forms and links. Everything works without it.

// Keys, never while somebody types. None of them decides or destroys: they lead somewhere.
const typing = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;
const dialog = (id) => document.getElementById(id);

let leads = false;
const lead = (key) => document.querySelector(`[data-go="${CSS.escape(key)}"]`)?.click();

const step = (by) => {
  const rows = [...document.querySelectorAll("main :is(tbody td.max, .lines > li, .tick)")];
  const links = rows.map((row) => row.querySelector("a")).filter((link) => link);
  const present = links.indexOf(document.activeElement);
  links[present < 0 ? 0 : Math.max(0, Math.min(present + by, links.length - 1))]?.focus();
};

const KEYS = {
  "?": () => dialog("keys")?.showModal(),
  "/": () => dialog("search")?.focus(),
  g: () => { leads = true; },
  j: () => step(1),
  k: () => step(-1),
  u: () => document.querySelector(".crumb a:last-of-type")?.click(),
};

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  const held = event.ctrlKey || event.metaKey;
  if (key === "Enter" && held && target.form) {
    event.preventDefault();
    target.form.requestSubmit();
  } else if (key === "k" && held && dialog("palette")) {
    event.preventDefault();
    dialog("palette").showModal();
  } else if (!held && !event.altKey && !typing(target) && !document.querySelector("dialog[open]")
    && document.body.dataset.keys !== "off") {
    const wasLed = leads;
    leads = false;
    if (wasLed) return lead(key);
    if (Object.hasOwn(KEYS, key)) event.preventDefault();
    const led = document.querySelector(`a[aria-keyshortcuts="${CSS.escape(key)}"]`);
    if (Object.hasOwn(KEYS, key)) KEYS[key](); else led?.click();
  }
});

// The palette shows what the page of the search answers.
let asked = null;
dialog("palette")?.addEventListener("input", (event) => {
  clearTimeout(asked);
  asked = setTimeout(() => search(event.target.form), 80);
});
dialog("palette")?.addEventListener("toggle", () => search(dialog("palette").querySelector("form")));
dialog("palette")?.addEventListener("keydown", (event) => {
  const links = [...dialog("palette").querySelectorAll(".pal-hits a")];
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const present = links.indexOf(document.activeElement);
  if (by) {
    event.preventDefault();
    const next = links[present + by];
    (next ?? dialog("palette").querySelector("input")).focus();
  } else if (event.key === "Enter" && present < 0 && links[0]) {
    event.preventDefault();
    links[0].click();
  }
});

const search = async (form) => {
  const query = new URLSearchParams(new FormData(form));
  const answer = await fetch(`${form.action}?${query}`, { headers: { Accept: "text/html" } });
  const hits = parsed(await answer.text()).getElementById("hits");
  const shown = dialog("palette").querySelector(".pal-hits");
  if (hits) shown.replaceChildren(document.importNode(hits, true));
};

// Keeps a page as it is in the store: what happens in the company comes over one stream, and the
// regions of the page are asked for anew, at most once a second.

const { company, event: shown, kinds } = document.body.dataset;
const PAUSE = 1000;
let source = null;
let seen = shown;
let timer = null;

const asHtml = { Accept: "text/html" };

const renew = async (answer) => {
  const page = parsed(await answer.text());
  seen = page.body.dataset.event ?? seen;
  const held = document.activeElement ?? document.body;
  const before = held.getBoundingClientRect().top;
  for (const region of document.querySelectorAll("[data-region]")) {
    const wanted = page.getElementById(region.id);
    if (wanted) morph(region, wanted);
  }
  // Where somebody writes does not move, whatever came above it.
  if (held !== document.body) scrollBy(0, held.getBoundingClientRect().top - before);
};

const refresh = async () => {
  timer = null;
  const answer = await fetch(location.href, { headers: asHtml });
  // Whoever signed out elsewhere keeps what the page shows, and what was typed.
  if (answer.status === 401 || answer.redirected) return sign("Signed out", false);
  // A refusal is for whoever loads the page anew.
  if (answer.ok) await renew(answer);
};

// Sends a form without leaving the page: what is answered is the page as it is then.
const sendForm = async (form) => {
  const body = new URLSearchParams(new FormData(form));
  try {
    await renew(await fetch(form.action, { method: "POST", headers: asHtml, body }));
  } catch {
    form.submit();
  }
};

const sign = (text, isLive) => {
  for (const element of document.querySelectorAll("[data-live]")) {
    element.lastChild.nodeValue = text;
    element.firstElementChild.classList.toggle("live", isLive);
  }
};

const happened = (event) => {
  seen = event.lastEventId || seen;
  timer ??= setTimeout(() => refresh().catch(() => sign("Reconnecting", false)), PAUSE / 4);
};

const open = () => {
  source = new EventSource(`/live/${company}?after=${seen}`);
  source.onopen = () => sign("Live", true);
  source.onerror = () => {
    sign("Reconnecting", false);
    // Browsers try again where there was no answer, and never after a refusal.
    if (source.readyState === EventSource.CLOSED) setTimeout(again, 5 * PAUSE);
  };
  for (const kind of [...kinds.split(" "), "reset"]) source.addEventListener(kind, happened);
};

const close = () => {
  source?.close();
  source = null;
};

// Begins anew with what the page shows then: what came before may not be kept any more.
const again = async () => {
  close();
  await refresh().catch(() => {});
  watch();
};

// A hidden page has no stream: browsers allow a server few at a time.
const watch = () => {
  if (document.visibilityState === "hidden") close();
  else if (!source) open();
};

// A log grows without events, and is followed by whoever looks at its end.
const GROWING = "[data-growing]";
const atEnd = (log) => log.scrollHeight - log.scrollTop - log.clientHeight < 40;
const follow = async () => {
  const log = document.querySelector(GROWING);
  if (!log || document.visibilityState === "hidden") return;
  const isFollowed = atEnd(log);
  await refresh();
  if (isFollowed) log.scrollTop = log.scrollHeight;
};

if (company) {
  const log = document.querySelector(GROWING);
  if (log) {
    log.scrollTop = log.scrollHeight;
    setInterval(() => follow().catch(() => sign("Reconnecting", false)), 2 * PAUSE);
  }
  document.addEventListener("visibilitychange", watch);
  addEventListener("pagehide", close);
  addEventListener("pageshow", watch);
  watch();
}

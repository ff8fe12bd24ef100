// What is written into a long field is kept for the tab until the server took it. So it outlives a
// reload, a session that ended and a server that was away. Secrets are not kept.
const DRAFTED = "main textarea:not([autocomplete=off], [autocomplete=off] *, [readonly])";

const draftOf = ({ form, name }) =>
  `draft ${form.getAttribute("action")} ${form.elements.namedItem("path")?.value ?? ""} ${name}`;

document.addEventListener("input", ({ target: field }) => {
  if (!field.matches(DRAFTED) || !field.form) return;
  const { defaultValue, value } = field;
  if (value === defaultValue) sessionStorage.removeItem(draftOf(field));
  else sessionStorage.setItem(draftOf(field), JSON.stringify([defaultValue, value]));
});

document.addEventListener("submit", ({ target: form }) => {
  const fields = [...form.elements].filter((field) => field.matches(DRAFTED));
  if (fields.length > 0) sessionStorage.setItem("sent", JSON.stringify(fields.map(draftOf)));
});

// A form that was taken leads to another page than the one that asks who it is.
const [visit] = performance.getEntriesByType("navigation");
const sentDrafts = JSON.parse(sessionStorage.getItem("sent") ?? "[]");
sessionStorage.removeItem("sent");
if (visit.redirectCount > 0 && !location.pathname.startsWith("/login")) {
  for (const draft of sentDrafts) sessionStorage.removeItem(draft);
}

for (const field of document.querySelectorAll(DRAFTED)) {
  const [before, draft] = JSON.parse(sessionStorage.getItem(draftOf(field)) ?? "[]");
  // What somebody else changed meanwhile is not written over.
  if (draft === undefined || before !== field.defaultValue || field.value !== before) continue;
  field.value = draft;
  const told = document.createElement("small");
  told.textContent = "Not sent yet: what you wrote here before.";
  field.after(told);
}

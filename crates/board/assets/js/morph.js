// Makes a region what the server shows now, without touching what a person does in it.

// The one place where text of the server becomes markup.
const policy = globalThis.trustedTypes?.createPolicy("board", { createHTML: (text) => text });
const parsed = (text) =>
  new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");

// A field that somebody changed, or writes in.
const isChanged = (field) => {
  if (field === document.activeElement) return true;
  // Nothing is typed into a button, and it has no former value.
  if (field.localName === "button") return false;
  if (field.type === "checkbox" || field.type === "radio") {
    return field.checked !== field.defaultChecked;
  }
  if (field.options) {
    const chosen = [...field.options].findIndex((option) => option.defaultSelected);
    return field.selectedIndex !== Math.max(chosen, 0);
  }
  return field.value !== field.defaultValue;
};

// A form is left alone while anything in it is somebody's.
const isBusy = (element) =>
  element.localName === "form"
  && [...element.elements].some((field) => field.type !== "hidden" && isChanged(field));

// The forms that are somebody's, in a part of the page.
const busyForms = (node) =>
  node.nodeType === Node.ELEMENT_NODE
    ? [node, ...node.querySelectorAll("form")].filter(isBusy)
    : [];

// Whether a part can become another one without losing what somebody does in it.
const keepsForms = (before, after) =>
  busyForms(before).every((form) => {
    const action = form.getAttribute("action");
    return [after, ...after.querySelectorAll("form")].some(
      (other) => other.getAttribute("action") === action,
    );
  });

// What is gone for the server is left as long as somebody writes in it.
const discard = (node) => {
  if (busyForms(node).length === 0) node.remove();
};

// What a person opened stays open.
const KEPT = new Set(["open"]);

const sameKind = (before, after) =>
  before.nodeType === after.nodeType
  && before.nodeName === after.nodeName
  && (before.id ?? "") === (after.id ?? "")
  && keepsForms(before, after);

const morphAttributes = (before, after) => {
  for (const { name, value } of after.attributes) {
    if (!KEPT.has(name) && before.getAttribute(name) !== value) before.setAttribute(name, value);
  }
  for (const { name } of [...before.attributes]) {
    if (!KEPT.has(name) && !after.hasAttribute(name)) before.removeAttribute(name);
  }
};

const morphChildren = (before, after) => {
  let present = before.firstChild;
  for (const wanted of [...after.childNodes]) {
    // One of the same kind further on means that those in between are gone.
    let match = present;
    while (match && !sameKind(match, wanted)) match = match.nextSibling;
    if (!match) {
      before.insertBefore(document.importNode(wanted, true), present);
      continue;
    }
    while (present !== match) {
      const next = present.nextSibling;
      discard(present);
      present = next;
    }
    present = match.nextSibling;
    morph(match, wanted);
  }
  while (present) {
    const next = present.nextSibling;
    discard(present);
    present = next;
  }
};

const morph = (before, after) => {
  if (before.nodeType !== Node.ELEMENT_NODE) {
    if (before.nodeValue !== after.nodeValue) before.nodeValue = after.nodeValue;
    return;
  }
  if (isBusy(before)) return;
  morphAttributes(before, after);
  morphChildren(before, after);
};

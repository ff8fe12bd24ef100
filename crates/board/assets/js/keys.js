// What pages do beyond forms and links. Everything works without it.

// Keys: `/` to search, `c` to make an issue. Never while somebody types.
const typing = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && target.form) {
    event.preventDefault();
    target.form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || typing(target)) return;
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("search")?.focus();
    return;
  }
  document.querySelector(`a[aria-keyshortcuts="${CSS.escape(event.key)}"]`)?.click();
});

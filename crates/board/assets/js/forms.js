// What is sent once more after going back has the key under which it was sent at first. What a
// browser itself does not remember is not remembered here.
document.addEventListener("submit", ({ target, submitter }) => {
  const field = target.elements.namedItem("key");
  if (!field || target.querySelector("[autocomplete=off], [type=password]")) return;
  const sent = [...new FormData(target, submitter)].filter(([name]) => name !== "key");
  const text = JSON.stringify([target.getAttribute("action"), sent]);
  if (history.state?.text === text) field.value = history.state.key;
  else history.replaceState({ text, key: field.value }, "");
});

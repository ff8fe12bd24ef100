// Cards are dragged to another column, or moved by a menu: with the button, or with `m`.

let dragged = null;
const cardOf = (element) => element.closest?.("[data-move]");
const mayMove = (card, status) => card.dataset.may.split(" ").includes(status);

const moveTo = (card, status) => {
  const form = document.getElementById("move");
  form.action = card.dataset.move;
  form.elements.status.value = status;
  sendForm(form);
};

document.addEventListener("dragstart", (event) => {
  dragged = cardOf(event.target);
  if (!dragged) return;
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", dragged.id);
});

document.addEventListener("dragover", (event) => {
  const column = event.target.closest?.("[data-status]");
  for (const other of document.querySelectorAll(".col.over")) {
    if (other !== column) other.classList.remove("over");
  }
  if (!dragged || !column || !mayMove(dragged, column.dataset.status)) return;
  event.preventDefault();
  column.classList.add("over");
});

document.addEventListener("drop", (event) => {
  const column = event.target.closest?.("[data-status]");
  if (!dragged || !column) return;
  event.preventDefault();
  moveTo(dragged, column.dataset.status);
});

document.addEventListener("dragend", () => {
  dragged = null;
  for (const column of document.querySelectorAll(".col.over")) column.classList.remove("over");
});

document.addEventListener("keydown", (event) => {
  const card = cardOf(event.target);
  if (event.key === "m" && card && !event.ctrlKey && !event.metaKey) openMenu(card);
});

const openMenu = (card) => {
  const menu = document.getElementById("move-menu");
  for (const choice of menu.querySelectorAll("button")) {
    choice.hidden = !mayMove(card, choice.value);
    choice.onclick = () => {
      menu.hidePopover();
      moveTo(card, choice.value);
    };
  }
  const { left, bottom } = card.getBoundingClientRect();
  menu.showPopover({ source: card });
  menu.style.setProperty("left", `${Math.max(8, Math.min(left, innerWidth - menu.offsetWidth - 8))}px`);
  menu.style.setProperty("top", `${Math.max(8, Math.min(bottom - 8, innerHeight - menu.offsetHeight - 8))}px`);
  menu.querySelector("button:not([hidden])")?.focus();
};

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-menu]");
  if (button) openMenu(cardOf(button));
});

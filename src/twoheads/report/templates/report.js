"use strict";
// Tables sort by a click on a heading; the order given is kept among equals.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], rows = [...table.tBodies[0].rows];
  const valueOf = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const compare = (one, other) => {
    const blank = (one === "") - (other === "");
    return blank || (isNaN(one) || isNaN(other) ? one.localeCompare(other) : one - other);
  };
  heads.forEach((head, column) => {
    if (head.dataset.sort === undefined) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = head.dataset.sort, second = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? second : first;
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      table.tBodies[0].append(...[...rows].sort((one, other) => {
        const [a, b] = [valueOf(one, column), valueOf(other, column)];
        return (a === "" || b === "" ? 1 : sign) * compare(a, b);
      }));
    });
  });
}
for (const each of document.querySelectorAll(".sorts")) each.hidden = false;
// A table that is wider than the page says so.
const hint = box => box.parentElement.classList.toggle("more", box.scrollWidth - box.clientWidth - box.scrollLeft > 1);
const watch = new ResizeObserver(seen => seen.forEach(each => hint(each.target)));
for (const box of document.querySelectorAll(".scroll")) {
  box.addEventListener("scroll", () => hint(box), {passive: true});
  watch.observe(box);
}
// A link to a folded section opens it; printing opens all sections.
const reveal = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
};
addEventListener("hashchange", reveal);
reveal();
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:is(.fold, .notes):not([open])")];
  for (const each of folded) each.open = true;
});
addEventListener("afterprint", () => { for (const each of folded) each.open = false; });

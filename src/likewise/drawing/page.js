// What the pages of likewise add where scripts run: each page can be read without it.
"use strict";

for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      getSelection().selectAllChildren(text); // so that people can copy it
      return;
    }
    const name = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = name; }, 1500);
  });
}

for (const figure of document.querySelectorAll("figure[data-levels]")) {
  const levels = JSON.parse(figure.dataset.levels);
  const total = Number(figure.dataset.total);
  const width = Number(figure.dataset.width); // bins of a column
  const falling = "falling" in figure.dataset;
  const columns = figure.querySelectorAll(".columns > span");
  const slider = figure.querySelector("input");
  const said = figure.querySelector("output");
  const pairs = document.querySelectorAll("article[data-value]");
  const move = () => {
    const at = Number(slider.value);
    const [threshold, number] = levels[at];
    const share = !number || number === total ? (number ? "100%" : "0%") : `${(100 * number / total).toFixed(1)}%`;
    const values = { threshold, number: number.toLocaleString("en-US"), share };
    said.textContent = figure.dataset.sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);
    slider.setAttribute("aria-valuetext", said.textContent);
    columns.forEach((column, place) => {
      const first = place * width, bins = Math.min(width, levels.length - first);
      const beyond = falling ? first + bins - 1 - at : at - first;
      column.style.setProperty("--apart", `${100 * Math.min(Math.max(beyond / bins, 0), 1)}%`);
    });
    for (const pair of pairs) {
      const value = Number(pair.dataset.value);
      pair.classList.toggle("apart", falling ? value > threshold : value < threshold);
    }
  };
  figure.querySelector(".slider").hidden = false;
  slider.addEventListener("input", move);
}

const opened = () => {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", opened);
opened();

let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const one of closed) one.open = true;
});
addEventListener("afterprint", () => { for (const one of closed) one.open = false; });

// The Tab key stops at boxes that scroll, not at those with room for their content.
const boxes = document.querySelectorAll("[role=group][tabindex], [role=region][tabindex]");
const stops = () => {
  for (const box of boxes) {
    box.tabIndex = box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight ? 0 : -1;
  }
};
addEventListener("resize", stops);
addEventListener("toggle", stops, true);
stops();

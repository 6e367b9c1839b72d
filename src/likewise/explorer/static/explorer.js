// What a page does beyond reading. All of it is also possible with links and forms.
"use strict";
document.documentElement.classList.add("script");
// A choice in a list of members, or of an order, is taken at once, but not one by keyboard, which passes over the choices between.
let pointed = false;
addEventListener("pointerdown", () => { pointed = true; });
addEventListener("keydown", () => { pointed = false; });
for (const form of document.querySelectorAll("form[method=get]:not([data-wait])"))
  form.addEventListener("change", event => { if (pointed && event.target.matches("select, input[type=radio]")) form.requestSubmit(); });

// A key presses the button that names it, unless something is being typed.
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  const button = document.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
  if (button && !event.repeat) { event.preventDefault(); button.click(); }
});

// The planner: numbers get sliders, and each change replaces the result with that of the server.
const plan = document.getElementById("plan");
if (plan) {
  const result = document.getElementById("result");
  let waiting = 0, asked = 0;
  const ask = async () => {
    const number = ++asked;
    const query = new URLSearchParams(new FormData(plan));
    history.replaceState(null, "", `/plan?${query}`);
    query.set("part", "yes");
    const answer = await fetch(`/plan?${query}`);
    if (number === asked && answer.ok) result.innerHTML = await answer.text(); // made by our own templates
  };
  const later = () => { clearTimeout(waiting); waiting = setTimeout(ask, 150); };
  for (const input of plan.querySelectorAll("input[data-slide]")) {
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: 0.01, max: input.dataset.slide, step: input.dataset.slide > 1 ? input.dataset.slide / 200 : 0.001, value: input.value });
    slider.setAttribute("aria-label", `${input.name}, slider`);
    slider.addEventListener("input", () => { input.value = slider.value; later(); });
    input.addEventListener("input", () => { slider.value = input.value; });
    input.after(slider);
  }
  plan.addEventListener("input", event => { if (event.target.type !== "range") later(); });
  plan.addEventListener("submit", event => { event.preventDefault(); ask(); });
}

// What a page does beyond reading. All of it is also possible with links and forms.
"use strict";
document.documentElement.classList.add("script");
// A choice in a list of members, or of an order, is taken at once.
for (const form of document.querySelectorAll("form[method=get]:not([data-wait])"))
  form.addEventListener("change", event => { if (event.target.matches("select, input[type=radio]")) form.requestSubmit(); });

// A key presses the button that names it, unless something is being typed.
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  const button = document.querySelector(`button[data-key="${CSS.escape(event.key)}"]`);
  if (button && !event.repeat) { event.preventDefault(); button.click(); }
});

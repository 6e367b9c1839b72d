// What a page does beyond reading. All of it is also possible with links and forms.
"use strict";
document.documentElement.classList.add("script");
// A choice in a list of members, or of an order, is taken at once.
for (const form of document.querySelectorAll("form[method=get]:not([data-wait])"))
  form.addEventListener("change", event => { if (event.target.matches("select, input[type=radio]")) form.requestSubmit(); });

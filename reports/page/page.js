"use strict";
(function () {
  const root = document.documentElement;
  root.classList.add("scripted");

  // Long tables, the stories at the end of the page and the still picture of the timeline are text until a reader opens them:
  // to make all of them would keep the rest of a long page waiting. Where no script runs, they are a part of the page as any
  // other.
  function unfold(element) {
    const folded = element.querySelector(":scope > noscript");
    if (!folded) return;
    const unfolded = document.createElement("div");
    // A piece of this page as it was written, with what comes from a history escaped in it.
    unfolded.append(...new DOMParser().parseFromString(folded.textContent, "text/html").body.childNodes);
    folded.replaceWith(unfolded);
  }
  const unfoldAll = () => each("details.more", unfold);
  document.addEventListener("toggle", (e) => { if (e.target.open) unfold(e.target); }, true);

  // A number above a drawing says what its line of the story does, once the reader points at it.
  document.addEventListener("pointerover", (e) => {
    const step = e.target.closest && e.target.closest(".step, .stepnumber");
    if (!step || step.firstElementChild) return;
    const number = (step.matches(".step") ? step.nextElementSibling : step).textContent;
    const line = step.closest(".finding").querySelectorAll(".story li")[number - 1], title = document.createElementNS(step.namespaceURI, "title");
    if (!line) return;
    title.textContent = number + ". " + line.querySelector(".t").textContent + " " + line.querySelector(".say").textContent;
    step.append(title);
  });

  // A link to a finding opens it, wherever the link came from.
  function reveal() {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* a stray %: taken as it is */ }
    let target = id && document.getElementById(id);
    if (!target && id.startsWith("v=")) { unfoldAll(); target = document.getElementById(id); }
    if (!target) return;
    for (let d = target; d; d = d.parentElement) if (d.tagName === "DETAILS") d.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  addEventListener("load", reveal);

  function each(selector, what) { document.querySelectorAll(selector).forEach(what); }
  function on(id, what) { const b = document.getElementById(id); if (b) b.addEventListener("click", what); }
  on("openall", () => { unfoldAll(); each("#findings details, #more details", (d) => { d.open = true; }); });
  on("closeall", () => each(".finding", (d) => { d.open = false; }));
  // On paper every story of those that stand in the page's flow; what is folded away beneath them only if it was opened.
  const still = () => unfold(document.getElementById("still"));
  addEventListener("beforeprint", () => { each(".finding", (d) => { d.open = true; }); still(); });
  addEventListener("timelinefailed", still);
  const paper = matchMedia("print");
  const onPaper = () => { if (paper.matches) still(); };
  paper.addEventListener("change", onPaper);
  onPaper();

  on("theme", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    dispatchEvent(new Event("themechange"));
  });

  each("[data-copy]", (b) => b.addEventListener("click", () => {
    const source = document.getElementById(b.dataset.copy);
    const done = () => { b.textContent = "copied"; setTimeout(() => { b.textContent = "copy"; }, 1500); };
    const select = () => { getSelection().selectAllChildren(source); document.execCommand("copy"); done(); };
    if (navigator.clipboard) navigator.clipboard.writeText(source.textContent).then(done, select); else select();
  }));
})();

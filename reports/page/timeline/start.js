"use strict";
// Puts the timeline together once the page is there: what is drawn when, and what pointer, keys, buttons and links do.
(function (T) {
  const root = document.documentElement, $ = (id) => document.getElementById(id);

  async function start() {
    const data = await T.load($("data").textContent);
    root.classList.add("timeline-live"); // from here on the still picture is for print only
    const canvas = $("canvas"), tip = $("tip"), said = $("said"), live = $("live"), pen = canvas.getContext("2d", { alpha: false });
    // The picture without what is chosen is kept: most frames only move the mark on it.
    const picture = document.createElement("canvas"), ink = picture.getContext("2d", { alpha: false });
    let colour, lanes, plot, hover = null, chosen = null, queued = false, stale = true, moved = true, settled = 0;

    const view = T.newView(data.end, () => { moved = true; redraw(); }), minimap = T.newMinimap($("minimap"), data, view), table = T.newTable(data);
    const filter = T.newFilter(data, () => { lanes = T.newLanes(data, filter); moved = true; hover = chosen = null; hide(); redraw(); });

    function redraw() { if (!queued) { queued = true; requestAnimationFrame(draw); } }
    function draw() {
      queued = false;
      const ratio = devicePixelRatio || 1, width = canvas.clientWidth;
      if (!width) return;
      const w = Math.round(width * ratio), h = Math.round(lanes.height * ratio);
      if (canvas.width !== w || canvas.height !== h) { canvas.style.height = lanes.height + "px"; canvas.width = picture.width = w; canvas.height = picture.height = h; stale = true; }
      if (stale) { stale = false; moved = true; colour = T.readTheme(pen); minimap.prepare(width, ratio, colour); }
      if (moved) repaint(ratio, width);
      pen.setTransform(1, 0, 0, 1, 0, 0); pen.drawImage(picture, 0, 0);
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      if (chosen || hover) T.paintSelection(pen, data, plot, lanes, colour, chosen || hover);
      if (!root.dataset.timeline) { root.dataset.timeline = "drawn"; performance.mark("timeline-drawn"); }
    }
    function repaint(ratio, width) {
      moved = false;
      plot = T.newPlot(view, width);
      ink.setTransform(ratio, 0, 0, ratio, 0, 0);
      T.paint(ink, data, plot, lanes, colour, filter);
      minimap.draw(colour);
      $("range").textContent = where();
      clearTimeout(settled);
      settled = setTimeout(() => table.fill(view, lanes, filter), 150);
    }
    function where() {
      const digits = Math.max(0, Math.min(6, Math.ceil(11.5 - Math.log10(view.span()))));
      const shown = data.findings.filter((f) => !filter.locks || filter.locks.has(f.k)), seen = shown.filter((f) => f.t >= view.from && f.t <= view.to);
      const hidden = data.findings.length - shown.length;
      const incidents = (findings) => new Set(findings.map((f) => f.i)).size, of = (n, all, what) => n + " of " + all + " " + what + (all === 1 ? "" : "s");
      return T.clock(view.from, digits) + " – " + T.clock(view.to, digits) + (data.findings.length ? " · " + of(incidents(seen), incidents(data.findings), "incident") + ", " +
        of(seen.length, data.findings.length, "finding") + (hidden ? " (" + hidden + " filtered out)" : "") : "");
    }

    function hide() { tip.hidden = true; }
    function tell(item, px, py) {
      tip.textContent = T.words(data, item); tip.hidden = false;
      const left = Math.min(canvas.offsetLeft + px + 14, live.clientWidth - tip.offsetWidth - 8);
      tip.style.left = Math.max(4, left) + "px"; tip.style.top = canvas.offsetTop + py + "px";
    }
    function choose(item) {
      if (!item) { said.textContent = "nothing further"; return; }
      chosen = item; hover = null;
      if (item.at < view.from || item.at > view.to) { const half = view.span() / 2; view.set(item.at - half, item.at + half); }
      draw();
      tell(item, plot.x(item.at), lanes.bottom + 4); // below the picture: no pointer asked for it, and it hides nothing there
      said.textContent = T.words(data, item);
    }
    function step(direction) { choose(T.next(data, lanes, filter, chosen, direction, direction > 0 ? view.from : view.to)); }
    // finding goes to the next one after what is chosen, or in or after what is in view.
    function finding(direction) {
      const shown = data.findings.map((f, i) => i).filter((i) => !filter.locks || filter.locks.has(data.findings[i].k));
      const here = chosen && chosen.kind === "finding" ? shown.indexOf(chosen.index) + direction :
        direction > 0 ? shown.findIndex((i) => data.findings[i].t >= (chosen ? chosen.at : view.from)) : shown.findLastIndex((i) => data.findings[i].t <= (chosen ? chosen.at : view.to));
      if (here < 0 || here >= shown.length) { said.textContent = direction > 0 ? "no later finding" : "no earlier finding"; return; }
      goTo(shown[here]);
    }
    function goTo(index) {
      const f = data.findings[index];
      view.show(Math.min(f.a, f.t), Math.max(f.b, f.t));
      choose(T.newItem(data, "finding", index));
    }
    function open(item) { if (item && item.kind === "finding") location.hash = "#v=" + data.findings[item.index].id; }

    let drag = null;
    canvas.addEventListener("pointerdown", (e) => { drag = { px: e.offsetX, from: view.from, to: view.to, moved: false }; canvas.setPointerCapture(e.pointerId); canvas.focus({ preventScroll: true }); });
    canvas.addEventListener("pointermove", (e) => {
      if (!plot) return;
      if (drag) {
        if (Math.abs(drag.px - e.offsetX) > 3 && !drag.moved) { drag.moved = true; canvas.classList.add("dragging"); hide(); }
        const d = (drag.px - e.offsetX) / plot.columns * (drag.to - drag.from);
        if (drag.moved) view.set(drag.from + d, drag.to + d);
        return;
      }
      hover = T.under(data, plot, lanes, filter, e.offsetX, e.offsetY); chosen = null;
      if (hover) tell(hover, e.offsetX, e.offsetY + 18); else hide();
      redraw();
    });
    canvas.addEventListener("pointerup", (e) => { const click = drag && !drag.moved; drag = null; canvas.classList.remove("dragging"); if (click) open(T.under(data, plot, lanes, filter, e.offsetX, e.offsetY)); });
    canvas.addEventListener("pointercancel", () => { drag = null; canvas.classList.remove("dragging"); });
    canvas.addEventListener("pointerleave", () => { if (drag) return; hover = null; if (!chosen) hide(); redraw(); });
    canvas.addEventListener("dblclick", (e) => view.zoom(.4, plot.time(e.offsetX)));
    canvas.addEventListener("wheel", (e) => {
      if (!(e.ctrlKey || e.metaKey || document.activeElement === canvas)) return; // otherwise the page scrolls
      e.preventDefault(); hide();
      if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) view.move((e.deltaX || e.deltaY) / plot.columns); else view.zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 150), plot.time(e.offsetX));
    }, { passive: false });

    const going = (what) => () => { hide(); what(); said.textContent = where(); };
    const does = { in: going(() => view.zoom(.5)), out: going(() => view.zoom(2)), fit: going(view.whole), left: going(() => view.move(-.3)), right: going(() => view.move(.3)),
      prev: () => finding(-1), next: () => finding(1), link: () => { location.hash = T.windowHash(view, filter.names()); T.copy(location.href, (words) => { said.textContent = words; $("linked").textContent = words; }); } };
    document.querySelectorAll("[data-do]").forEach((b) => b.addEventListener("click", () => does[b.dataset.do]()));
    const keys = { "+": does.in, "=": does.in, "-": does.out, "0": does.fit, Home: does.fit, ArrowLeft: does.left, ArrowRight: does.right, p: does.prev, n: does.next, l: does.link,
      ",": () => step(-1), ".": () => step(1), Enter: () => open(chosen || hover), Escape: () => { chosen = hover = null; hide(); redraw(); } };
    canvas.addEventListener("keydown", (e) => { if (e.ctrlKey || e.metaKey || e.altKey || !Object.hasOwn(keys, e.key)) return; e.preventDefault(); keys[e.key](); });
    document.addEventListener("click", (e) => { // also of stories that are unfolded later
      const b = e.target.closest("[data-show]");
      const index = b ? data.findings.findIndex((f) => f.id === b.dataset.show) : -1;
      if (index < 0) return;
      live.scrollIntoView({ block: "center" }); goTo(index); canvas.focus({ preventScroll: true });
    });

    // A link to a window, wherever it came from.
    function follow() {
      const link = T.parseWindow(location.hash);
      if (!link) return;
      filter.choose(link);
      view.set(link.from, link.to);
      $("timeline").scrollIntoView();
    }
    addEventListener("hashchange", follow);
    addEventListener("resize", redraw);
    const themed = () => { stale = true; redraw(); };
    addEventListener("themechange", themed);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);
    table.details.addEventListener("toggle", () => table.fill(view, lanes, filter));
    lanes = T.newLanes(data, filter);
    follow();
    draw();
  }

  // copy tells done how it went: pages on disk may not be allowed to.
  T.copy = function (text, done) {
    if (!navigator.clipboard) { done("the address bar has the link"); return; }
    navigator.clipboard.writeText(text).then(() => done("link copied"), () => done("the address bar has the link"));
  };
  start().catch((error) => { root.dataset.timeline = "failed: " + error; dispatchEvent(new Event("timelinefailed")); }); // the still picture is shown instead
})(self.runTimeline = self.runTimeline || {});

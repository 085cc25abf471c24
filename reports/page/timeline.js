"use strict";
// The live timeline: a canvas over the data in #data. Everything shown as text goes through textContent or fillText.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  for (const name of ["lanes", "holds", "writes", "faults", "findings", "phases", "leaders", "stalls"]) data[name] = data[name] || [];
  const canvas = document.getElementById("canvas"), tip = document.getElementById("tip"), said = document.getElementById("said");
  const range = document.getElementById("range"), live = document.getElementById("live");
  const pen = canvas.getContext("2d");
  const GUTTER = 112, RIGHT = 14, HEAD = 26, MARKS = 24, LANE = data.lanes.length > 24 ? 20 : 30, FOOT = 24, MIN = 1e5; // 0.1 ms
  const storage = data.lanes.length - 1, top = HEAD + MARKS, bottom = top + data.lanes.length * LANE;
  const view = { from: 0, to: data.end };
  let width = 0, colour = {}, hover = null, chosen = -1, queued = false;

  const items = []; // everything that can be hovered or stepped to, in the order of time
  data.findings.forEach((f) => items.push({ kind: "finding", from: f.t, to: f.t, at: f.t, it: f }));
  data.faults.forEach((f) => items.push({ kind: "fault", from: f.a, to: f.b, at: f.a, it: f }));
  data.holds.forEach((h) => items.push({ kind: "hold", from: h.d, to: h.e, at: h.d, it: h }));
  data.writes.forEach((w) => items.push({ kind: "write", from: w.t, to: w.t, at: w.t, it: w }));
  items.sort((a, b) => a.at - b.at);

  const s = (ns, digits) => (ns / 1e9).toFixed(digits === undefined ? 3 : digits) + " s";
  function ms(ns) { return ns >= 1e9 ? (ns / 1e9).toFixed(2) + " s" : (ns / 1e6).toFixed(ns >= 1e8 ? 0 : 1) + " ms"; }
  const x = (ns) => GUTTER + (width - GUTTER - RIGHT) * (ns - view.from) / (view.to - view.from);
  const time = (px) => view.from + (px - GUTTER) / (width - GUTTER - RIGHT) * (view.to - view.from);
  const laneY = (lane) => top + lane * LANE;

  function words(item) {
    const i = item.it;
    switch (item.kind) {
      case "finding": return i.id + (i.m ? " (masked)" : "") + "\n" + i.s + "\nat " + s(i.t);
      case "fault": return i.w + "\n" + s(i.a) + " to " + s(i.b) + (i.q ? "\nnever seen to work" : "");
      case "hold":
        if (i.n) return i.n + " holds of " + data.lanes[i.l].name + "\n" + s(i.d) + " to " + s(i.b);
        return data.lanes[i.l].name + " held " + i.k + (i.t ? "\ntoken " + i.t : "\nno token") + "\ngranted " + s(i.d) + "\nbelieved until " + s(i.b) + " (" + ms(i.b - i.d) + ")" +
          (i.x ? "\nlease until " + s(i.x) + " at least" : "") + (i.f ? "\nnamed by a finding" : "");
      default:
        if (i.n) return i.n + " writes " + i.r + "\naround " + s(i.t);
        return "write of " + (i.v || "(empty)") + " to " + i.k + ": " + i.r + (i.l >= 0 ? "\nby " + data.lanes[i.l].name : "") + (i.o ? "\ntoken " + i.o : "\nno token") + "\nat " + s(i.t) + (i.f ? "\nnamed by a finding" : "");
    }
  }

  function theme() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["bg", "panel", "ink", "soft", "faint", "rule", "stripe", "red", "teal", "amber", "older", "newer", "onbar", "other", "fault"]) colour[name] = style.getPropertyValue("--" + name).trim();
    colour.hatch = hatch();
  }
  const tint = (part) => part === 2 ? colour.newer : part === 1 ? colour.older : colour.other;
  function hatch() {
    const tile = document.createElement("canvas"); tile.width = tile.height = 8;
    const p = tile.getContext("2d"); p.strokeStyle = colour.fault; p.globalAlpha = .6; p.lineWidth = 1.5;
    p.beginPath(); p.moveTo(-2, 10); p.lineTo(10, -2); p.moveTo(-2, 2); p.lineTo(2, -2); p.moveTo(6, 10); p.lineTo(10, 6); p.stroke();
    return pen.createPattern(tile, "repeat");
  }

  // Holds and writes are in the order of time: the first in view is found by halving. Long holds that began before
  // the view are caught by going back as far as the longest one reaches.
  const longest = data.holds.reduce((most, h) => Math.max(most, h.e - h.d), 0);
  function firstAt(list, field, ns) { let a = 0, b = list.length; while (a < b) { const m = (a + b) >> 1; if (list[m][field] < ns) a = m + 1; else b = m; } return a; }

  function draw() {
    queued = false;
    const ratio = devicePixelRatio || 1, height = bottom + FOOT;
    width = canvas.clientWidth;
    if (!width) return;
    canvas.style.height = height + "px";
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) { canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio); }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colour.panel; pen.fillRect(0, 0, width, height);
    pen.textBaseline = "middle";
    lanes(); grid();
    pen.save(); pen.beginPath(); pen.rect(GUTTER, 0, width - GUTTER - RIGHT + 7, bottom); pen.clip();
    marks(); faults(); holds(); writes(); findings(); selection();
    pen.restore();
    range.textContent = s(view.from, digits()) + " – " + s(view.to, digits());
  }
  const digits = () => Math.max(0, Math.min(6, Math.ceil(11.5 - Math.log10(view.to - view.from))));
  function redraw() { if (!queued) { queued = true; requestAnimationFrame(draw); } }

  function lanes() {
    data.lanes.forEach((lane, i) => {
      if (i % 2) { pen.fillStyle = colour.stripe; pen.fillRect(0, laneY(i), width, LANE); }
      label(lane.name, 8, laneY(i) + LANE / 2, lane.kind === "client" ? colour.ink : colour.soft, lane.kind === "client" ? 600 : 400);
    });
    label("findings", 8, HEAD + MARKS / 2, colour.soft, 400);
  }
  function label(text, px, py, fill, weight) {
    pen.font = weight + " 12.5px system-ui, sans-serif"; pen.fillStyle = fill; pen.textAlign = "left";
    let shown = text;
    while (shown.length > 3 && pen.measureText(shown).width > GUTTER - 16) shown = shown.slice(0, -2);
    pen.fillText(shown === text ? text : shown + "…", px, py);
  }
  function grid() {
    const about = (view.to - view.from) / Math.max(2, (width - GUTTER) / 110), power = Math.pow(10, Math.floor(Math.log10(about)));
    const step = [1, 2, 5, 10].map((f) => f * power).find((v) => v >= about) || about, places = Math.max(0, Math.ceil(9 - Math.log10(step) - 1e-9));
    pen.strokeStyle = colour.rule; pen.lineWidth = 1; pen.fillStyle = colour.faint; pen.font = "11.5px system-ui, sans-serif"; pen.textAlign = "center";
    for (let ns = Math.ceil(view.from / step) * step; ns <= view.to; ns += step) {
      const px = Math.round(x(ns)) + .5;
      pen.beginPath(); pen.moveTo(px, HEAD); pen.lineTo(px, bottom); pen.stroke();
      pen.fillText(s(ns, places), px, bottom + 13);
    }
  }
  function marks() {
    pen.textAlign = "left"; pen.font = "11.5px system-ui, sans-serif";
    data.phases.forEach((p) => {
      const a = x(p.a); if (p.b < view.from || p.a > view.to) return;
      pen.strokeStyle = colour.faint; pen.setLineDash([3, 3]); pen.beginPath(); pen.moveTo(a, 0); pen.lineTo(a, bottom); pen.stroke(); pen.setLineDash([]);
      const at = Math.max(a, GUTTER) + 5;
      if (x(p.b) - at > pen.measureText(p.w).width) { pen.fillStyle = colour.soft; pen.fillText(p.w, at, 12); }
    });
    pen.fillStyle = colour.amber; pen.globalAlpha = .22;
    data.stalls.forEach((p) => { if (p.b >= view.from && p.a <= view.to) pen.fillRect(x(p.a), top, Math.max(1, x(p.b) - x(p.a)), bottom - top); });
    pen.globalAlpha = 1;
    data.leaders.forEach((p) => {
      const lane = data.lanes.findIndex((l) => l.kind === "server" && l.name === p.w);
      if (lane < 0 || p.b < view.from || p.a > view.to) return;
      pen.fillStyle = colour.teal; pen.fillRect(x(p.a), laneY(lane) + LANE - 5, Math.max(1, x(p.b) - x(p.a)), 3);
    });
  }
  function holds() {
    const bar = LANE - 12, drawn = new Float64Array(data.lanes.length).fill(-1);
    for (let i = firstAt(data.holds, "d", view.from - longest); i < data.holds.length && data.holds[i].d <= view.to; i++) {
      const h = data.holds[i]; if (h.e < view.from) continue;
      const a = x(h.d), b = Math.max(x(h.b), a + .7), e = x(h.e), y = laneY(h.l) + 6;
      if (!h.f && b <= drawn[h.l] + .3) continue; // its pixels are filled already
      drawn[h.l] = Math.max(drawn[h.l], b);
      pen.fillStyle = tint(h.f); pen.fillRect(a, y, b - a, bar);
      if (e > b + 3) { pen.strokeStyle = tint(h.f); pen.setLineDash([3, 3]); pen.strokeRect(b, y + .5, e - b, bar - 1); pen.setLineDash([]); }
      const text = h.n ? h.n + " holds" : h.t;
      if (text && b - a > 44) {
        pen.font = "11px system-ui, sans-serif"; pen.textAlign = "left";
        if (pen.measureText(text).width < b - a - 10) { pen.fillStyle = h.f ? colour.onbar : colour.ink; pen.fillText(text, Math.max(a, GUTTER) + 5, y + bar / 2 + .5); }
      }
    }
  }
  function faults() {
    data.faults.forEach((f) => {
      if (f.b < view.from || f.a > view.to) return;
      const a = x(f.a), w = Math.max(1.5, x(f.b) - a), y = laneY(f.l) + 2;
      pen.strokeStyle = colour.fault; pen.lineWidth = 1; if (f.q) pen.setLineDash([3, 3]);
      if (!f.q) { pen.fillStyle = colour.hatch; pen.fillRect(a, y, w, LANE - 4); }
      pen.strokeRect(a, y + .5, w, LANE - 5); pen.setLineDash([]);
    });
  }
  function writes() {
    const y = laneY(storage) + LANE / 2; let last = -9, lastNo = -9; const refused = [];
    for (let i = firstAt(data.writes, "t", view.from); i < data.writes.length && data.writes[i].t <= view.to; i++) {
      const w = data.writes[i], px = x(w.t);
      if (w.r === "rejected") { if (px - lastNo > 1.5 || w.f) { refused.push(px); lastNo = px; } continue; }
      if (!w.f && px - last < 1) continue;
      last = px;
      if (w.l >= 0 && (w.f === 1 || view.to - view.from < 3e9)) { pen.strokeStyle = tint(w.f); pen.lineWidth = 1; pen.beginPath(); pen.moveTo(px, laneY(w.l) + LANE - 6); pen.lineTo(px, y); pen.stroke(); }
      pen.fillStyle = tint(w.f); pen.beginPath(); pen.arc(px, y, w.f ? 5 : 3, 0, 7); pen.fill();
    }
    refused.forEach((px) => cross(px, y, 4)); // over the rest: there are few, and they are what one looks for
  }
  function cross(px, y, r) { pen.strokeStyle = colour.red; pen.lineWidth = 2; pen.beginPath(); pen.moveTo(px - r, y - r); pen.lineTo(px + r, y + r); pen.moveTo(px - r, y + r); pen.lineTo(px + r, y - r); pen.stroke(); }
  function findings() {
    data.findings.forEach((f) => {
      const px = x(f.t), y = HEAD + MARKS / 2; if (px < GUTTER - 6 || px > width) return;
      pen.fillStyle = f.m ? colour.teal : colour.red; pen.beginPath(); pen.moveTo(px, y - 7); pen.lineTo(px + 6, y); pen.lineTo(px, y + 7); pen.lineTo(px - 6, y); pen.fill();
    });
  }
  const laneOf = (item) => item.kind === "finding" ? -1 : item.kind === "write" ? storage : item.it.l;
  function selection() {
    const item = chosen >= 0 ? items[chosen] : hover; if (!item) return;
    const lane = laneOf(item), y = lane < 0 ? HEAD : laneY(lane), a = x(item.from), b = Math.max(x(item.to), a);
    pen.strokeStyle = colour.ink; pen.lineWidth = 1.5; pen.strokeRect(a - 4, y + 1, b - a + 8, (lane < 0 ? MARKS : LANE) - 2);
    if (item.kind === "finding") { pen.globalAlpha = .08; pen.fillStyle = colour.red; pen.fillRect(x(item.it.a), top, Math.max(1, x(item.it.b) - x(item.it.a)), bottom - top); pen.globalAlpha = 1; }
  }

  function clamp(from, to) {
    const least = Math.min(MIN, data.end), length = Math.min(Math.max(to - from, least), data.end);
    from = Math.min(Math.max(from, 0), data.end - length);
    view.from = from; view.to = from + length; redraw();
  }
  function zoom(factor, around) { if (around === undefined) around = (view.from + view.to) / 2; clamp(around - (around - view.from) * factor, around + (view.to - around) * factor); }
  function move(share) { const d = (view.to - view.from) * share; clamp(view.from + d, view.to + d); }
  function show(item) { const pad = Math.max((item.b - item.a) * .15, 1e7); clamp(item.a - pad, item.b + pad); }

  function choose(index) {
    if (index < 0 || index >= items.length) return;
    chosen = index;
    const item = items[index];
    if (item.at < view.from || item.at > view.to) { const half = (view.to - view.from) / 2; clamp(item.at - half, item.at + half); }
    draw(); tell(item, x(item.at), bottom - LANE); // below the picture: it was not asked for with a pointer
    said.textContent = words(item);
  }
  function finding(direction) {
    const at = chosen >= 0 ? chosen : direction > 0 ? -1 : items.length;
    for (let i = at + direction; i >= 0 && i < items.length; i += direction) if (items[i].kind === "finding") { show(items[i].it); choose(i); return; }
  }
  function open(item) { if (item && item.kind === "finding") location.hash = "#v=" + item.it.id; }

  function tell(item, px, py) {
    tip.textContent = words(item); tip.hidden = false;
    const left = Math.min(canvas.offsetLeft + px + 14, live.clientWidth - tip.offsetWidth - 8);
    tip.style.left = Math.max(4, left) + "px"; tip.style.top = canvas.offsetTop + py + LANE + 4 + "px";
  }
  function under(px, py) {
    const ns = time(px), slack = (view.to - view.from) / (width - GUTTER) * 6, lane = Math.floor((py - top) / LANE);
    let best = null, score = Infinity;
    const consider = (kind, from, to, at, it, bias) => {
      if (ns < from - slack || ns > to + slack) return;
      const d = (ns < from ? from - ns : ns > to ? ns - to : 0) + bias;
      if (d < score) { score = d; best = { kind, from, to, at, it }; }
    };
    if (py >= HEAD && py < top) data.findings.forEach((f) => consider("finding", f.t, f.t, f.t, f, 0));
    else if (lane === storage) for (let i = firstAt(data.writes, "t", ns - slack); i < data.writes.length && data.writes[i].t <= ns + slack; i++) consider("write", data.writes[i].t, data.writes[i].t, data.writes[i].t, data.writes[i], data.writes[i].f ? -slack : 0);
    else if (lane >= 0 && lane < storage) {
      data.faults.forEach((f) => { if (f.l === lane) consider("fault", f.a, f.b, f.a, f, slack / 2); });
      for (let i = firstAt(data.holds, "d", ns - longest - slack); i < data.holds.length && data.holds[i].d <= ns + slack; i++) if (data.holds[i].l === lane) consider("hold", data.holds[i].d, data.holds[i].b, data.holds[i].d, data.holds[i], 0);
    }
    return best;
  }

  let drag = null;
  canvas.addEventListener("pointerdown", (e) => { drag = { px: e.offsetX, from: view.from, to: view.to, moved: false }; canvas.setPointerCapture(e.pointerId); canvas.focus({ preventScroll: true }); });
  canvas.addEventListener("pointermove", (e) => {
    if (drag) {
      const d = (drag.px - e.offsetX) / (width - GUTTER - RIGHT) * (drag.to - drag.from);
      if (Math.abs(drag.px - e.offsetX) > 3) { drag.moved = true; canvas.classList.add("dragging"); }
      if (drag.moved) { tip.hidden = true; clamp(drag.from + d, drag.to + d); }
      return;
    }
    hover = under(e.offsetX, e.offsetY); chosen = -1;
    if (hover) tell(hover, e.offsetX, Math.floor(e.offsetY / LANE) * LANE); else tip.hidden = true;
    redraw();
  });
  canvas.addEventListener("pointerup", (e) => { const click = drag && !drag.moved; drag = null; canvas.classList.remove("dragging"); if (click) open(under(e.offsetX, e.offsetY)); });
  canvas.addEventListener("pointercancel", () => { drag = null; canvas.classList.remove("dragging"); });
  canvas.addEventListener("pointerleave", () => { hover = null; tip.hidden = true; redraw(); });
  canvas.addEventListener("dblclick", (e) => zoom(.4, time(e.offsetX)));
  canvas.addEventListener("wheel", (e) => {
    if (!(e.ctrlKey || e.metaKey || document.activeElement === canvas)) return; // otherwise the page scrolls
    e.preventDefault(); tip.hidden = true;
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) move((e.deltaX || e.deltaY) / width); else zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 150), time(e.offsetX));
  }, { passive: false });

  const does = { in: () => zoom(.5), out: () => zoom(2), fit: () => clamp(0, data.end), left: () => move(-.3), right: () => move(.3), prev: () => finding(-1), next: () => finding(1) };
  document.querySelectorAll("[data-do]").forEach((b) => b.addEventListener("click", () => does[b.dataset.do]()));
  const keys = { "+": does.in, "=": does.in, "-": does.out, "0": does.fit, Home: does.fit, ArrowLeft: does.left, ArrowRight: does.right, p: does.prev, n: does.next,
    ",": () => choose(chosen < 0 ? items.length - 1 : chosen - 1), ".": () => choose(chosen + 1), Enter: () => open(chosen >= 0 ? items[chosen] : hover), Escape: () => { chosen = -1; tip.hidden = true; redraw(); canvas.blur(); } };
  canvas.addEventListener("keydown", (e) => { if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return; e.preventDefault(); keys[e.key](); });
  document.querySelectorAll("[data-show]").forEach((b) => b.addEventListener("click", () => {
    const index = items.findIndex((i) => i.kind === "finding" && i.it.id === b.dataset.show); if (index < 0) return;
    live.scrollIntoView({ block: "center" }); show(items[index].it); choose(index); canvas.focus({ preventScroll: true });
  }));

  theme(); draw();
  addEventListener("resize", redraw);
  addEventListener("themechange", () => { theme(); redraw(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { theme(); redraw(); });
})();

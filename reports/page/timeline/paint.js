"use strict";
// The frame of the picture: lanes, time axis, phases, faults, leaders, findings. What lies in lanes is in paintholds.js
// and paintwrites.js.
(function (T) {
  // newPlot is how a window of time is laid onto a canvas: x of a moment, and which columns of pixels there are.
  T.newPlot = function (view, width) {
    const left = T.GUTTER, columns = Math.max(1, Math.floor(width - left - T.RIGHT)), scale = columns / view.span();
    return { left, columns, scale, width, from: view.from, to: view.to, right: left + columns,
      x: (ns) => left + (ns - view.from) * scale, time: (px) => view.from + (px - left) / scale,
      sees: (a, b) => b >= view.from && a <= view.to };
  };

  T.paint = function (pen, data, plot, lanes, colour, filter) {
    pen.fillStyle = colour.panel; pen.fillRect(0, 0, plot.width, lanes.height);
    pen.textBaseline = "middle";
    stripes(pen, plot, lanes, colour);
    axis(pen, plot, lanes, colour);
    pen.save();
    pen.beginPath(); pen.rect(plot.left, 0, plot.columns + 7, lanes.bottom); pen.clip();
    phases(pen, data, plot, lanes, colour);
    faults(pen, data, plot, lanes, colour);
    T.paintHolds(pen, data, plot, lanes, colour, filter);
    outlines(pen, data, plot, lanes, colour);
    leaders(pen, data, plot, lanes, colour);
    const tokens = T.paintWrites(pen, data, plot, lanes, colour);
    findings(pen, data, plot, colour, filter);
    pen.restore();
    names(pen, lanes, colour, tokens);
  };

  // paintSelection marks an item on top of the picture.
  T.paintSelection = function (pen, data, plot, lanes, colour, item) {
    pen.save();
    pen.beginPath(); pen.rect(plot.left, 0, plot.columns + 7, lanes.bottom); pen.clip();
    selection(pen, data, plot, lanes, colour, item);
    pen.restore();
  };

  // fit shortens a text to a width by a guess at its letters: measuring each would take longer than drawing it.
  const LETTER = 6.7;
  T.fit = (text, width) => text.length * LETTER <= width ? text : width < 3 * LETTER ? "" : text.slice(0, Math.max(1, Math.floor(width / LETTER) - 1)) + "…";

  function stripes(pen, plot, lanes, colour) {
    lanes.list.forEach((lane, i) => {
      if (i % 2 === 0) { pen.fillStyle = colour.stripe; pen.fillRect(0, lane.y, plot.width, lane.height); }
    });
    pen.strokeStyle = colour.rule; pen.lineWidth = 1;
    pen.beginPath(); pen.moveTo(plot.left - .5, T.HEAD); pen.lineTo(plot.left - .5, lanes.bottom); pen.moveTo(0, lanes.bottom + .5); pen.lineTo(plot.width, lanes.bottom + .5); pen.stroke();
  }

  function names(pen, lanes, colour, tokens) {
    pen.textAlign = "left";
    const name = (text, y, weight, fill) => { pen.font = weight + " 12.5px " + T.FONT; pen.fillStyle = fill; pen.fillText(T.fit(text, T.GUTTER - 16), 8, y); };
    name("findings", T.HEAD + T.MARKS / 2, 400, colour.soft);
    for (const lane of lanes.list) {
      const client = lane.kind === "client", lock = lane.kind === "lock";
      name(lane.name, lane.y + (lock ? 14 : lane.height / 2), client || lock ? 600 : 400, client || lock ? colour.ink : colour.soft);
      if (lock) { pen.font = "11px " + T.FONT; pen.fillStyle = colour.soft; pen.fillText(T.fit(tokens[lane.row] || "writes", T.GUTTER - 12), 8, lane.y + 31); }
    }
  }

  function axis(pen, plot, lanes, colour) {
    const about = (plot.to - plot.from) / Math.max(2, plot.columns / 110), power = Math.pow(10, Math.floor(Math.log10(about)));
    const step = [1, 2, 5, 10].map((f) => f * power).find((v) => v >= about) || about, places = Math.max(0, Math.ceil(9 - Math.log10(step) - 1e-9));
    pen.font = "11.5px " + T.FONT; pen.textAlign = "center"; pen.strokeStyle = colour.rule; pen.fillStyle = colour.faint;
    pen.beginPath();
    for (let i = Math.ceil(plot.from / step); i * step <= plot.to; i++) {
      const px = Math.round(plot.x(i * step)) + .5;
      pen.moveTo(px, T.HEAD); pen.lineTo(px, lanes.bottom);
      pen.fillText(T.clock(i * step, places), Math.min(px, plot.right - 14), lanes.bottom + 13);
    }
    pen.stroke();
  }

  function phases(pen, data, plot, lanes, colour) {
    pen.textAlign = "left"; pen.font = "11.5px " + T.FONT;
    for (const p of data.phases) {
      if (!plot.sees(p.a, p.b)) continue;
      const a = plot.x(p.a), at = Math.max(a, plot.left) + 5, room = Math.min(plot.x(p.b), plot.right) - at;
      pen.strokeStyle = colour.faint; pen.setLineDash([3, 3]); pen.beginPath(); pen.moveTo(a, 0); pen.lineTo(a, lanes.bottom); pen.stroke(); pen.setLineDash([]);
      pen.fillStyle = colour.soft; pen.fillText(T.fit(p.w, room), at, 12);
    }
    pen.fillStyle = colour.amber; pen.globalAlpha = .22;
    for (const s of data.stalls.concat(data.steps)) if (plot.sees(s.a, s.b)) pen.fillRect(plot.x(s.a), lanes.top, Math.max(1, plot.x(s.b) - plot.x(s.a)), lanes.bottom - lanes.top);
    for (const s of data.silences) if (lanes.clientY[s.c] >= 0 && plot.sees(s.a, s.b)) pen.fillRect(plot.x(s.a), lanes.clientY[s.c], Math.max(1, plot.x(s.b) - plot.x(s.a)), clientHeight(lanes));
    pen.globalAlpha = 1;
    pen.strokeStyle = colour.amber; pen.lineWidth = 1.5; pen.setLineDash([4, 3]); pen.beginPath();
    for (const s of data.steps) if (plot.sees(s.a, s.b)) { pen.moveTo(plot.x(s.b), lanes.top); pen.lineTo(plot.x(s.b), lanes.bottom); }
    pen.stroke(); pen.setLineDash([]);
  }

  function faults(pen, data, plot, lanes, colour) {
    const lane = lanes.list.find((l) => l.kind === "faults");
    pen.font = "600 11px " + T.FONT; pen.textAlign = "left"; // set once: it is parsed each time
    data.faults.forEach((f, i) => {
      if (!plot.sees(f.a, f.b)) return;
      const [a, w] = faultBox(plot, f), y = lane.y + 3 + lanes.faults.row[i] * lane.faultHeight;
      const hatch = (top, height) => { if (!f.q) { pen.fillStyle = colour.hatch; pen.fillRect(a, top, w, height); } };
      hatch(y, lane.faultHeight - 2); outline(pen, f, a, y, w, lane.faultHeight - 2, colour);
      if (f.c >= 0 && lanes.clientY[f.c] >= 0) hatch(lanes.clientY[f.c] + 1, clientHeight(lanes) - 2);
      const text = T.fit(f.w, w - 8);
      if (!text) return;
      pen.fillStyle = colour.panel; pen.fillRect(Math.max(a, plot.left) + 3, y + 2, text.length * 6.2 + 4, lane.faultHeight - 6);
      pen.fillStyle = colour.ink; pen.fillText(text, Math.max(a, plot.left) + 5, y + lane.faultHeight / 2 - .5);
    });
  }

  // A fault of a client lies behind its bars, where it can be told from them, and its outline over them.
  function outlines(pen, data, plot, lanes, colour) {
    for (const f of data.faults) {
      if (f.c < 0 || lanes.clientY[f.c] < 0 || !plot.sees(f.a, f.b)) continue;
      const [a, w] = faultBox(plot, f);
      outline(pen, f, a, lanes.clientY[f.c] + 1, w, clientHeight(lanes) - 2, colour);
    }
  }
  const clientHeight = (lanes) => (lanes.list.find((l) => l.kind === "client") || { height: 0 }).height;
  function faultBox(plot, f) {
    const a = Math.max(plot.x(f.a), plot.left - 4), b = Math.min(plot.x(f.b), plot.right + 10);
    return [a, Math.max(2, b - a)];
  }
  function outline(pen, f, a, y, w, height, colour) {
    pen.strokeStyle = colour.fault; pen.lineWidth = 1; pen.setLineDash(f.q ? [3, 3] : []);
    pen.strokeRect(a + .5, y + .5, w - 1, height - 1); pen.setLineDash([]);
  }

  function leaders(pen, data, plot, lanes, colour) {
    const lane = lanes.list.find((l) => l.kind === "leader");
    pen.font = "11px " + T.FONT; pen.textAlign = "left";
    data.leaders.forEach((l) => {
      if (!plot.sees(l.a, l.b)) return;
      const a = Math.max(plot.x(l.a), plot.left), b = Math.min(plot.x(l.b), plot.right), w = Math.max(1, b - a);
      pen.fillStyle = l.w ? colour.teal : colour.amber;
      if (l.w) pen.fillRect(a, lane.y + lane.height - 6, w, 3); else { pen.globalAlpha = .4; pen.fillRect(a, lane.y + 3, w, lane.height - 6); pen.globalAlpha = 1; }
      pen.fillRect(a, lane.y + 3, 1.5, lane.height - 6); // where one leader follows another
      pen.fillStyle = colour.ink;
      pen.fillText(T.fit(l.w || "no leader", w - 8), a + 5, lane.y + 9);
    });
  }

  function findings(pen, data, plot, colour, filter) {
    const y = T.HEAD + T.MARKS / 2;
    for (const f of data.findings) {
      const px = plot.x(f.t);
      if (px < plot.left - 6 || px > plot.right + 6 || filter.locks && !filter.locks.has(f.k)) continue;
      pen.fillStyle = f.m ? colour.teal : colour.red;
      pen.beginPath(); pen.moveTo(px, y - 8); pen.lineTo(px + 6, y); pen.lineTo(px, y + 8); pen.lineTo(px - 6, y); pen.fill();
      pen.strokeStyle = colour.panel; pen.lineWidth = 1; pen.stroke();
    }
  }

  function selection(pen, data, plot, lanes, colour, item) {
    const a = plot.x(item.from), b = Math.max(plot.x(item.to), a), y = item.y(lanes), height = item.height(lanes);
    if (item.kind === "finding") {
      const f = data.findings[item.index];
      pen.globalAlpha = .09; pen.fillStyle = colour.red; pen.fillRect(plot.x(f.a), lanes.top, Math.max(1, plot.x(f.b) - plot.x(f.a)), lanes.bottom - lanes.top); pen.globalAlpha = 1;
    }
    if (y < 0) return;
    pen.strokeStyle = colour.ink; pen.lineWidth = 1.5; pen.strokeRect(a - 4, y + 1, b - a + 8, height - 2);
  }
})(self.runTimeline = self.runTimeline || {});

"use strict";
// The lanes of clients: waiting is a thin line, holding a bar, a hold that is not confirmed any more a dashed box, and
// "believes, but the lease is gone" a striped bar with a thick foot.
//
// Level of detail: what is narrower than two columns of pixels adds its share to its column, and columns are shaded by the
// share of time that is held; what a finding names, and a lease that was outlived, marks its column at any length.
// So a million operations cost one pass over numbers and at most one rectangle for each column, and no red mark gets lost.
(function (T) {
  const NARROW = 2, LEVELS = 8;
  let held = new Float32Array(0), waited = new Float32Array(0), marks = new Uint8Array(0);
  const OLDER = 1, NEWER = 2, GONE = 4;

  function clear(size) {
    if (held.length < size) { held = new Float32Array(size); waited = new Float32Array(size); marks = new Uint8Array(size); return; }
    held.fill(0, 0, size); waited.fill(0, 0, size); marks.fill(0, 0, size);
  }

  // share adds the stretch from a to b, in columns from the left edge, to the columns that it touches.
  function share(into, start, columns, a, b) {
    if (a < 0) a = 0;
    if (b > columns) b = columns;
    for (let c = Math.floor(a); c < b; c++) into[start + c] += Math.min(b, c + 1) - Math.max(a, c);
  }

  T.paintHolds = function (pen, data, plot, lanes, colour, filter) {
    const h = data.holds, columns = plot.columns, from = plot.from, scale = plot.scale, wide = [];
    clear(lanes.clients * columns);
    const height = (lanes.list.find((l) => l.kind === "client") || { height: 0 }).height;
    const until = plot.to + h.longestWait;
    for (let i = T.first(h.done, from - h.longest); i < h.rows && h.done[i] <= until; i++) {
      const row = lanes.clientRow[h.client[i]];
      if (row < 0 || filter.locks && !filter.locks.has(h.lock[i])) continue;
      const done = (h.done[i] - from) * scale, end = (h.end[i] - from) * scale, asked = (h.asked[i] - from) * scale;
      if (end < 0 && done < 0 || asked > columns) continue;
      const start = row * columns;
      if (done - asked >= NARROW) wait(pen, plot, lanes.clientY[h.client[i]] + height / 2, asked, done, colour);
      else share(waited, start, columns, asked, done);
      if (!h.granted[i] || end < 0 || done > columns) continue;
      const believed = (h.believed[i] - from) * scale;
      if (believed - done >= NARROW || end - believed >= NARROW) { wide.push(i); continue; }
      share(held, start, columns, done, believed);
      const mark = (h.part[i] === 1 ? OLDER : h.part[i] === 2 ? NEWER : 0) | (T.gone(h, i) ? GONE : 0);
      if (mark || believed - done < .05) {
        const c = Math.min(Math.max(Math.floor(done), 0), columns - 1);
        marks[start + c] |= mark;
        held[start + c] = Math.max(held[start + c], .05); // a hold is seen, however short
      }
    }
    shades(pen, plot, lanes, colour, height);
    pen.font = "11px " + T.FONT; pen.textAlign = "left"; // set once: it is parsed each time
    for (const i of wide) if (!h.part[i]) bar(pen, data, plot, lanes, colour, height, i);
    for (const i of wide) if (h.part[i]) bar(pen, data, plot, lanes, colour, height, i);
    columnMarks(pen, plot, lanes, colour, height);
  };

  function wait(pen, plot, y, a, b, colour) {
    a = Math.max(a, -2); b = Math.min(b, plot.columns + 2);
    pen.fillStyle = colour.faint; pen.fillRect(plot.left + a, y - .75, b - a, 1.5);
    if (a > -2) pen.fillRect(plot.left + a, y - 4, 1, 8); // asked here
  }

  // shades draws columns next to each other that are as dark as each other at once.
  function shades(pen, plot, lanes, colour, height) {
    const columns = plot.columns;
    for (const lane of lanes.list) {
      if (lane.kind !== "client") continue;
      const start = lanes.clientRow[lane.index] * columns;
      runs(waited, start, columns, (a, b, level) => { pen.globalAlpha = .3 + .7 * level / LEVELS; pen.fillStyle = colour.faint; pen.fillRect(plot.left + a, lane.y + height / 2 - .75, b - a, 1.5); });
      runs(held, start, columns, (a, b, level) => { pen.globalAlpha = .25 + .75 * level / LEVELS; pen.fillStyle = colour.other; pen.fillRect(plot.left + a, lane.y + 5, b - a, height - 10); });
    }
    pen.globalAlpha = 1;
  }

  function runs(shares, start, columns, draw) {
    let from = 0, level = 0;
    for (let c = 0; c <= columns; c++) {
      const now = c < columns && shares[start + c] > 0 ? Math.max(1, Math.min(LEVELS, Math.round(shares[start + c] * LEVELS))) : 0;
      if (now === level) continue;
      if (level) draw(from, c, level);
      from = c; level = now;
    }
  }

  function bar(pen, data, plot, lanes, colour, height, i) {
    const h = data.holds, y = lanes.clientY[h.client[i]] + 5, tall = height - 10;
    const clipped = (ns) => Math.min(Math.max(plot.x(ns), plot.left - 8), plot.right + 8);
    const a = clipped(h.done[i]), b = Math.max(clipped(h.believed[i]), a + 1), e = clipped(h.end[i]);
    pen.fillStyle = colour.part[h.part[i]];
    if (h.count[i]) pen.globalAlpha = .6;
    pen.fillRect(a, y, b - a, tall); pen.globalAlpha = 1;
    if (e > b + 3) { pen.strokeStyle = colour.part[h.part[i]]; pen.lineWidth = 1; pen.setLineDash([3, 3]); pen.strokeRect(b, y + .5, e - b, tall - 1); pen.setLineDash([]); }
    if (T.gone(h, i)) gone(pen, Math.max(clipped(h.lease[i]), a), b, y, tall, colour);
    const text = h.count[i] ? T.count(h.count[i]) + " holds" : T.tokenText(data, h.token[i]), at = Math.max(a, plot.left) + 5;
    const room = (T.gone(h, i) ? clipped(h.lease[i]) : b) - at - 3;
    if (room < 14 || !text || text.length * 6.4 > room) return;
    pen.fillStyle = h.part[i] ? colour.onbar : colour.ink;
    pen.fillText(text, at, y + tall / 2 + .5);
  }

  function gone(pen, a, b, y, tall, colour) {
    if (b - a < 3) a = b - 3;
    pen.fillStyle = colour.gone; pen.fillRect(a, y, b - a, tall);
    pen.strokeStyle = colour.red; pen.lineWidth = 1; pen.strokeRect(a + .5, y + .5, b - a - 1, tall - 1);
    pen.fillStyle = colour.red; pen.fillRect(a, y + tall, b - a, 3);
    if (b - a < 70) return;
    const text = "lease gone", at = Math.max(a, T.GUTTER) + 5;
    if (b - at < 70) return;
    pen.fillStyle = colour.panel; pen.fillRect(at - 2, y + 2, 66, tall - 4);
    pen.fillStyle = colour.red; pen.fillText(text, at, y + tall / 2 + .5);
  }

  // columnMarks draws what must not get lost over the shades: at least three columns wide.
  function columnMarks(pen, plot, lanes, colour, height) {
    for (const lane of lanes.list) {
      if (lane.kind !== "client") continue;
      const start = lanes.clientRow[lane.index] * plot.columns;
      for (let c = 0; c < plot.columns; c++) {
        const mark = marks[start + c];
        if (!mark) continue;
        const x = plot.left + c - 1;
        if (mark & (OLDER | NEWER)) { pen.fillStyle = mark & OLDER ? colour.older : colour.newer; pen.fillRect(x, lane.y + 4, 3, height - 8); }
        if (mark & GONE) { pen.fillStyle = colour.red; pen.fillRect(x + .5, lane.y + 4, 2, height - 8); pen.fillRect(x - 1, lane.y + height - 5, 5, 3); }
      }
    }
  }
})(self.runTimeline = self.runTimeline || {});

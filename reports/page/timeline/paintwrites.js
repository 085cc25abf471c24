"use strict";
// The lanes of resources: a line for the highest token seen, a dot for a write applied and a cross for one rejected, each
// at the height of its token. A stale write lies below the line.
(function (T) {
  const PAD = 8, CELL = 2;
  let taken = new Uint8Array(0);

  T.paintWrites = function (pen, data, plot, lanes, colour) {
    const w = data.writes, first = T.first(w.time, plot.from), after = T.first(w.time, plot.to + 1);
    const least = new Float64Array(lanes.locks).fill(Infinity), most = new Float64Array(lanes.locks).fill(-Infinity), newest = new Float64Array(lanes.locks);
    for (let i = first; i < after; i++) {
      const row = lanes.lockRow[w.lock[i]];
      if (row < 0) continue;
      for (const token of [w.token[i], w.mark[i]]) {
        if (!T.hasNumber(token)) continue;
        if (token < least[row]) least[row] = token;
        if (token > most[row]) most[row] = token;
      }
      if (w.mark[i] || w.token[i]) newest[row] = w.mark[i] || NaN;
    }
    const rows = lanes.list.filter((l) => l.kind === "lock"), height = rows.length ? rows[0].height : 0;
    const y = (row, token) => rows[row].y + (T.hasNumber(token) && most[row] > least[row] ? height - PAD - (token - least[row]) / (most[row] - least[row]) * (height - 2 * PAD) : height / 2);
    line(pen, data, plot, lanes, colour, first, after, rows, y);
    dots(pen, data, plot, lanes, colour, first, after, rows, y, height);
    return rows.map((lane) => lane.shared ? "" : newest[lane.row] > 0 ? "token " + T.tokenText(data, newest[lane.row]) : after > first && newest[lane.row] === 0 ? "no tokens" : "");
  };

  // line is at most two strokes for each column of pixels: to the height at which a column begins, and at which it ends.
  function line(pen, data, plot, lanes, colour, first, after, rows, y) {
    const w = data.writes, last = new Float64Array(rows.length).fill(NaN), column = new Int32Array(rows.length).fill(-1);
    const paths = rows.map(() => new Path2D());
    const step = (row, px, to) => { if (isNaN(last[row])) paths[row].moveTo(px, to); else { paths[row].lineTo(px, last[row]); paths[row].lineTo(px, to); } last[row] = to; };
    const pending = new Float64Array(rows.length).fill(NaN), pendingX = new Float64Array(rows.length);
    for (let i = first; i < after; i++) {
      const row = lanes.lockRow[w.lock[i]];
      if (row < 0 || !T.hasNumber(w.mark[i]) || rows[row].shared) continue;
      const px = plot.x(w.time[i]), at = y(row, w.mark[i]);
      if (Math.floor(px) === column[row]) { pending[row] = at; pendingX[row] = px; continue; }
      if (!isNaN(pending[row])) { step(row, pendingX[row], pending[row]); pending[row] = NaN; }
      column[row] = Math.floor(px);
      step(row, px, at);
    }
    pen.strokeStyle = colour.faint; pen.lineWidth = 1;
    rows.forEach((lane, row) => {
      if (!isNaN(pending[row])) step(row, pendingX[row], pending[row]);
      if (isNaN(last[row])) return;
      paths[row].lineTo(plot.right, last[row]);
      pen.stroke(paths[row]);
    });
  }

  // dots draws at most one dot for each small square; those of findings and the rejected ones come last, over the rest.
  function dots(pen, data, plot, lanes, colour, first, after, rows, y, height) {
    const w = data.writes, across = Math.ceil(plot.columns / CELL) + 2, down = Math.ceil(height / CELL) + 1, special = [], dense = after - first > 2 * plot.columns;
    const size = rows.length * across * down;
    if (taken.length < size) taken = new Uint8Array(size); else taken.fill(0, 0, size);
    pen.fillStyle = colour.soft;
    for (let i = first; i < after; i++) {
      const row = lanes.lockRow[w.lock[i]];
      if (row < 0) continue;
      const px = plot.x(w.time[i]), py = y(row, w.token[i]);
      if (w.part[i]) { special.push(i); continue; }
      const cell = (row * down + Math.floor((py - rows[row].y) / CELL)) * across + Math.floor((px - plot.left) / CELL);
      const refused = w.outcome[i] === T.REJECTED, bit = refused ? 2 : 1;
      if (taken[cell] & bit) continue;
      taken[cell] |= bit;
      if (refused) { special.push(i); continue; }
      if (dense) { pen.fillRect(px - 1, py - 1, 2, 2); continue; }
      pen.beginPath(); pen.arc(px, py, 3, 0, 7); pen.fill();
    }
    for (const i of special) {
      const row = lanes.lockRow[w.lock[i]], px = plot.x(w.time[i]), py = y(row, w.token[i]);
      if (w.client[i] >= 0 && w.part[i] && lanes.clientY[w.client[i]] >= 0) {
        pen.strokeStyle = colour.part[w.part[i]]; pen.lineWidth = 1;
        pen.beginPath(); pen.moveTo(px, lanes.clientY[w.client[i]] + 14); pen.lineTo(px, py); pen.stroke();
      }
      if (w.outcome[i] === T.REJECTED) { cross(pen, px, py, 4, colour); continue; }
      pen.fillStyle = colour.part[w.part[i]]; pen.strokeStyle = colour.panel; pen.lineWidth = 1.5;
      pen.beginPath(); pen.arc(px, py, 5, 0, 7); pen.fill(); pen.stroke();
    }
  }

  function cross(pen, px, py, r, colour) {
    pen.strokeStyle = colour.red; pen.lineWidth = 2;
    pen.beginPath(); pen.moveTo(px - r, py - r); pen.lineTo(px + r, py + r); pen.moveTo(px - r, py + r); pen.lineTo(px + r, py - r); pen.stroke();
  }
})(self.runTimeline = self.runTimeline || {});

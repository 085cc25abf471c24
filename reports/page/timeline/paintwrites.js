"use strict";
// The lanes of resources: a line for the highest token seen, a dot for a write applied and a cross for one rejected, each
// at the height of its token. A stale write lies below the line.
//
// Level of detail: at most one dot for each small square, and the line goes up and down at most twice for each column of
// pixels. What a finding names and what was rejected is drawn over the rest, so it is seen at any zoom.
(function (T) {
  const PAD = 8, CELL = 2, APPLIED = 1, REFUSED = 2;
  let taken = new Uint8Array(0);

  T.paintWrites = function (pen, data, plot, lanes, colour) {
    const rows = lanes.list.filter((l) => l.kind === "lock"), w = data.writes;
    if (!rows.length) return [];
    const first = T.first(w.time, plot.from), after = T.first(w.time, plot.to + 1), scale = heights(w, lanes.lockRow, rows, first, after);
    line(pen, w, plot, lanes.lockRow, colour, first, after, rows, scale);
    dots(pen, data, plot, lanes, colour, first, after, rows, scale);
    return rows.map((lane, row) => lane.shared ? "" : scale.newest[row] ? "token " + T.tokenText(data, scale.newest[row]) : after > first && scale.newest[row] === 0 ? "no tokens" : "");
  };

  // heights lays the tokens that are in view onto the lanes: y is base - slope * token; in the middle without a number.
  function heights(w, lockRow, rows, first, after) {
    const n = rows.length, least = new Float64Array(n).fill(Infinity), most = new Float64Array(n).fill(-Infinity), newest = new Float64Array(n);
    for (let i = first; i < after; i++) {
      const row = lockRow[w.lock[i]], token = w.token[i], mark = w.mark[i];
      if (row < 0) continue;
      if (token > 0 && token < least[row]) least[row] = token;
      if (mark > 0 && mark < least[row]) least[row] = mark;
      if (token > most[row]) most[row] = token;
      if (mark > most[row]) most[row] = mark;
      if (mark !== 0 || token !== 0) newest[row] = mark || NaN;
    }
    const slope = new Float64Array(n), base = new Float64Array(n), middle = new Float64Array(n);
    rows.forEach((lane, row) => {
      middle[row] = base[row] = lane.y + lane.height / 2;
      if (!(most[row] > least[row])) return;
      slope[row] = (lane.height - 2 * PAD) / (most[row] - least[row]);
      base[row] = lane.y + lane.height - PAD + slope[row] * least[row];
    });
    return { slope, base, middle, newest, y: (row, token) => token > 0 ? base[row] - slope[row] * token : middle[row] };
  }

  function line(pen, w, plot, lockRow, colour, first, after, rows, { slope, base }) {
    const last = new Float64Array(rows.length).fill(NaN), column = new Float64Array(rows.length).fill(-Infinity);
    const pending = new Float64Array(rows.length).fill(NaN), paths = rows.map(() => new Path2D());
    const step = (row, px, y) => {
      if (y === last[row]) return;
      if (isNaN(last[row])) paths[row].moveTo(px, y); else { paths[row].lineTo(px, last[row]); paths[row].lineTo(px, y); }
      last[row] = y;
    };
    for (let i = first; i < after; i++) {
      const row = lockRow[w.lock[i]], mark = w.mark[i];
      if (row < 0 || !(mark > 0)) continue;
      const px = plot.left + (w.time[i] - plot.from) * plot.scale, y = base[row] - slope[row] * mark;
      if (px < column[row] + 1) { pending[row] = y; continue; }
      if (pending[row] === pending[row]) { step(row, column[row] + 1, pending[row]); pending[row] = NaN; }
      column[row] = Math.floor(px);
      step(row, px, y);
    }
    pen.strokeStyle = colour.faint; pen.lineWidth = 1;
    rows.forEach((lane, row) => {
      if (isNaN(last[row]) || lane.shared) return;
      if (!isNaN(pending[row])) step(row, column[row] + 1, pending[row]);
      paths[row].lineTo(plot.right, last[row]);
      pen.stroke(paths[row]);
    });
  }

  function dots(pen, data, plot, lanes, colour, first, after, rows, { slope, base, middle, y }) {
    const w = data.writes, { lockRow } = lanes, special = [], dense = after - first > 2 * plot.columns;
    const across = Math.ceil(plot.columns / CELL) + 2, down = Math.ceil(rows[0].height / CELL) + 1, size = rows.length * across * down;
    if (taken.length < size) taken = new Uint8Array(size); else taken.fill(0, 0, size);
    const above = Float64Array.from(rows, (lane) => lane.y);
    pen.fillStyle = colour.soft;
    for (let i = first; i < after; i++) {
      const row = lockRow[w.lock[i]];
      if (row < 0) continue;
      if (w.part[i] !== 0) { special.push(i); continue; }
      const token = w.token[i], px = (w.time[i] - plot.from) * plot.scale, py = token > 0 ? base[row] - slope[row] * token : middle[row];
      const cell = (row * down + ((py - above[row]) / CELL | 0)) * across + (px / CELL | 0), bit = w.outcome[i] === T.REJECTED ? REFUSED : APPLIED;
      if (taken[cell] & bit) continue;
      taken[cell] |= bit;
      if (bit === REFUSED) special.push(i);
      else if (dense) pen.fillRect(plot.left + px - 1, py - 1, 2, 2);
      else { pen.beginPath(); pen.arc(plot.left + px, py, 3, 0, 7); pen.fill(); }
    }
    for (const i of special) {
      const row = lockRow[w.lock[i]], px = plot.x(w.time[i]), py = y(row, w.token[i]);
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

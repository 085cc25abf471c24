"use strict";
// What can be pointed at or stepped to: an item is a kind and an index into what the page carries.
(function (T) {
  const SLACK = 6; // pixels

  T.newItem = function (data, kind, index) {
    const h = data.holds, w = data.writes, item = { kind, index };
    switch (kind) {
      case "finding": case "fault": case "leader": case "stall": case "step": case "silence": {
        const it = data[kind + "s"][index];
        item.from = item.at = kind === "finding" ? it.t : it.a;
        item.to = kind === "finding" ? it.t : it.b;
        break;
      }
      case "hold": item.at = h.done[index]; item.from = h.granted[index] ? h.done[index] : h.asked[index]; item.to = h.granted[index] ? h.believed[index] : h.done[index]; break;
      default: item.from = item.to = item.at = w.time[index];
    }
    const lane = (lanes) => lanes.list.find((l) => kind === "fault" ? l.kind === "faults" : kind === "leader" ? l.kind === "leader" :
      kind === "hold" || kind === "silence" ? l.kind === "client" && l.index === (kind === "hold" ? h.client[index] : data.silences[index].c) : kind === "write" && l.kind === "lock" && lanes.lockRow[w.lock[index]] === l.row);
    const across = kind === "stall" || kind === "step";
    item.y = (lanes) => { if (kind === "finding") return T.HEAD; if (across) return lanes.top; const l = lane(lanes); return l ? l.y + (kind === "fault" ? 2 + lanes.faults.row[index] * l.faultHeight : 0) : -1; };
    item.height = (lanes) => { if (kind === "finding") return T.MARKS; if (across) return lanes.bottom - lanes.top; const l = lane(lanes); return l ? l.faultHeight || l.height : 0; };
    return item;
  };

  // under is what lies at a place of the picture, or null: of several the nearest, and what a finding names first.
  T.under = function (data, plot, lanes, filter, px, py) {
    const ns = plot.time(px), slack = SLACK / plot.scale, lane = lanes.at(py);
    let best = null, score = Infinity;
    const consider = (kind, index, from, to, bias) => {
      if (ns < from - slack || ns > to + slack) return;
      const d = (ns < from ? from - ns : ns > to ? ns - to : 0) + bias;
      if (d < score) { score = d; best = [kind, index]; }
    };
    if (px < plot.left - SLACK) return null;
    if (!lane) {
      if (py >= T.HEAD && py < lanes.top) data.findings.forEach((f, i) => { if (!filter.locks || filter.locks.has(f.k)) consider("finding", i, f.t, f.t, 0); });
    } else if (lane.kind === "faults") {
      const row = Math.floor((py - lane.y - 3) / lane.faultHeight);
      data.faults.forEach((f, i) => { if (lanes.faults.row[i] === row) consider("fault", i, f.a, f.b, 0); });
    } else if (lane.kind === "leader") data.leaders.forEach((l, i) => consider("leader", i, l.a, l.b, 0));
    else if (lane.kind === "client") {
      const h = data.holds, until = ns + slack + h.longestWait;
      for (let i = T.first(h.done, ns - h.longest - slack); i < h.rows && h.done[i] <= until; i++) {
        if (h.client[i] !== lane.index || filter.locks && !filter.locks.has(h.lock[i])) continue;
        if (h.granted[i]) consider("hold", i, h.done[i], h.believed[i], h.part[i] ? -slack : 0);
        consider("hold", i, h.asked[i], h.done[i], slack / 4);
      }
      data.faults.forEach((f, i) => { if (f.c === lane.index) consider("fault", i, f.a, f.b, slack / 2); });
      data.silences.forEach((s, i) => { if (s.c === lane.index) consider("silence", i, s.a, s.b, slack / 2); });
    } else {
      const w = data.writes;
      for (let i = T.first(w.time, ns - slack); i < w.rows && w.time[i] <= ns + slack; i++) {
        if (lanes.lockRow[w.lock[i]] === lane.row) consider("write", i, w.time[i], w.time[i], w.part[i] ? -slack : w.outcome[i] === T.REJECTED ? -slack / 2 : 0);
      }
    }
    if (lane && !best) for (const kind of ["step", "stall"]) data[kind + "s"].forEach((s, i) => consider(kind, i, s.a, s.b, 0)); // they lie behind everything
    return best && T.newItem(data, best[0], best[1]);
  };

  // next is the item after (or before) another one in the order of time, of all that is shown; null at the end.
  const KINDS = ["finding", "stall", "step", "silence", "fault", "leader", "hold", "write"];
  T.next = function (data, lanes, filter, item, direction, from) {
    const at = { finding: (i) => data.findings[i].t, stall: (i) => data.stalls[i].a, step: (i) => data.steps[i].a, silence: (i) => data.silences[i].a, fault: (i) => data.faults[i].a, leader: (i) => data.leaders[i].a, hold: (i) => data.holds.done[i], write: (i) => data.writes.time[i] };
    const size = { finding: data.findings.length, stall: data.stalls.length, step: data.steps.length, silence: data.silences.length, fault: data.faults.length, leader: data.leaders.length, hold: data.holds.rows, write: data.writes.rows };
    const shown = {
      finding: (i) => !filter.locks || filter.locks.has(data.findings[i].k), stall: () => true, step: () => true, silence: (i) => lanes.clientRow[data.silences[i].c] >= 0, fault: () => true, leader: () => true,
      hold: (i) => lanes.clientRow[data.holds.client[i]] >= 0 && (!filter.locks || filter.locks.has(data.holds.lock[i])),
      write: (i) => lanes.lockRow[data.writes.lock[i]] >= 0,
    };
    const start = item ? item.at : from, rank = item ? KINDS.indexOf(item.kind) : direction > 0 ? -1 : KINDS.length;
    let best = null, bestAt = 0;
    KINDS.forEach((kind, k) => {
      // The first that comes after the start, and the one before that on the way back. Among equal times kinds have an order.
      let i = item && item.kind === kind ? item.index + direction : halve(at[kind], size[kind], start, k > rank);
      if (direction < 0 && !(item && item.kind === kind)) i--;
      while (i >= 0 && i < size[kind] && !shown[kind](i)) i += direction;
      if (i < 0 || i >= size[kind]) return;
      const ns = at[kind](i);
      if (!best || (direction > 0 ? ns < bestAt : ns >= bestAt)) { best = [kind, i]; bestAt = ns; }
    });
    return best && T.newItem(data, best[0], best[1]);
  };

  // halve is the first index at which a rising function has reached a moment; past those equal to it if inclusive is false.
  function halve(at, size, ns, inclusive) {
    let a = 0, b = size;
    while (a < b) { const m = (a + b) >> 1; if (at(m) < ns || !inclusive && at(m) === ns) a = m + 1; else b = m; }
    return a;
  }
})(self.runTimeline = self.runTimeline || {});

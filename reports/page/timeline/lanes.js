"use strict";
// Which lanes there are, from top to bottom, and what the filter leaves of them.
(function (T) {
  T.GUTTER = 118; T.RIGHT = 14; T.HEAD = 24; T.MARKS = 24; T.FOOT = 24;
  const FAULT = 18, LEADER = 22, LOCK = 44, CLIENT = 28, SMALL = 20, MANY = 24, FAULT_ROWS = 4, LOCK_LANES = 8;

  // faultRows puts faults that overlap into rows of their own; the last row takes what is left.
  T.faultRows = function (faults) {
    const ends = [], rows = new Uint8Array(faults.length);
    faults.map((f, i) => i).sort((x, y) => faults[x].a - faults[y].a).forEach((i) => {
      let row = ends.findIndex((end) => end <= faults[i].a);
      if (row < 0) row = Math.min(ends.length, FAULT_ROWS - 1);
      rows[i] = row;
      ends[row] = Math.max(ends[row] || 0, faults[i].b);
    });
    return { row: rows, count: ends.length };
  };

  // newLanes: filter.clients and filter.locks are sets of what is shown, or null for everything.
  T.newLanes = function (data, filter) {
    const list = [], faults = T.faultRows(data.faults);
    const clientY = new Float64Array(data.clients.length).fill(-1), lockY = new Float64Array(data.locks.length + 1).fill(-1);
    const lockRow = new Int16Array(data.locks.length + 1).fill(-1), clientRow = new Int16Array(data.clients.length).fill(-1);
    let y = T.HEAD + T.MARKS;
    const add = (lane) => { lane.y = y; y += lane.height; list.push(lane); };
    if (data.faults.length) add({ kind: "faults", name: "faults", height: faults.count * FAULT + 6, faultHeight: FAULT });
    if (data.leaders.length) add({ kind: "leader", name: "leader", height: LEADER });
    const shown = data.clients.map((name, i) => i).filter((i) => !filter.clients || filter.clients.has(i));
    shown.forEach((i, row) => { clientY[i] = y; clientRow[i] = row; add({ kind: "client", index: i, name: data.clients[i], height: shown.length > MANY ? SMALL : CLIENT }); });
    const locks = Array.from(lockY.keys()).filter((i) => (i < data.locks.length || data.hasOthers) && (!filter.locks || filter.locks.has(i)));
    let rows = 0;
    locks.forEach((i, at) => {
      const shared = at >= LOCK_LANES && locks.length > LOCK_LANES + 1;
      if (!shared || at === LOCK_LANES) { add({ kind: "lock", index: i, name: shared ? "other locks" : T.lockName(data, i), height: LOCK, row: rows, shared }); rows++; }
      lockY[i] = y - LOCK; lockRow[i] = rows - 1;
    });
    return { list, clientY, clientRow, clients: shown.length, lockY, lockRow, locks: rows, faults, top: T.HEAD + T.MARKS, bottom: y, height: y + T.FOOT,
      at: (py) => list.find((l) => py >= l.y && py < l.y + l.height) };
  };
})(self.runTimeline = self.runTimeline || {});

"use strict";
// What the page carries about the run, unpacked: see packing.go. All times are ns since the run's start.
(function (T) {
  const NARROW = { client: Int16Array, lock: Uint16Array, part: Uint8Array, granted: Uint8Array, outcome: Uint8Array, count: Uint32Array };
  const MICRO = 1000; // packed times are in µs

  async function inflate(text) {
    const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // unpack makes a typed array of each column. Numbers up to 2^53 are exact, which is what packing.go promises.
  async function unpack(table) {
    const bytes = await inflate(table.data), columns = {};
    let at = 0;
    for (const column of table.columns) {
      const values = new (NARROW[column.name] || Float64Array)(table.rows);
      let last = 0;
      for (let i = 0; i < table.rows; i++) {
        let byte = bytes[at++], zigzag = byte & 127;
        for (let factor = 128; byte > 127; factor *= 128) { byte = bytes[at++]; zigzag += (byte & 127) * factor; }
        const value = zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
        values[i] = last = column.delta ? last + value : value;
      }
      columns[column.name] = values;
    }
    columns.rows = table.rows;
    return columns;
  }

  // The packed lengths become moments: asked, done, believed (until), end, lease (over from then on, at the earliest).
  function holds(c) {
    const n = c.rows, h = { rows: n, done: c.done, asked: c.waited, believed: c.believed, end: c.unsure, lease: c.lease,
      client: c.client, lock: c.lock, token: c.token, part: c.part, granted: c.granted, count: c.count, longest: 0, longestWait: 0 };
    for (let i = 0; i < n; i++) {
      const done = c.done[i] * MICRO;
      h.longestWait = Math.max(h.longestWait, c.waited[i] * MICRO);
      h.longest = Math.max(h.longest, (c.believed[i] + c.unsure[i]) * MICRO);
      h.asked[i] = done - c.waited[i] * MICRO;
      h.end[i] = done + (c.believed[i] + c.unsure[i]) * MICRO;
      h.believed[i] = done + c.believed[i] * MICRO;
      h.lease[i] = c.lease[i] ? done + (c.lease[i] - 1) * MICRO : Infinity;
      h.done[i] = done;
    }
    return h;
  }

  function writes(c) {
    for (let i = 0; i < c.rows; i++) { c.time[i] *= MICRO; c.client[i]--; }
    return c;
  }

  // load reads the data and unpacks it. It fails in a browser that cannot inflate (before 2023).
  T.load = async function (raw) {
    const data = JSON.parse(raw);
    for (const name of ["clients", "locks", "faults", "findings", "phases", "leaders", "stalls", "texts"]) data[name] = data[name] || [];
    data.holds = holds(await unpack(data.holds));
    data.writes = writes(await unpack(data.writes));
    data.origin = BigInt(data.origin);
    data.hasOthers = data.holds.lock.includes(data.locks.length) || data.writes.lock.includes(data.locks.length);
    return data;
  };

  // A token is 0 for none, odd for a number, even for a text.
  T.hasNumber = (token) => token % 2 === 1;
  T.tokenText = (data, token) => token === 0 ? "" : T.hasNumber(token) ? String(data.origin + BigInt((token - 1) / 2)) : data.texts[token / 2 - 1];

  // first is the first row at which a sorted column has reached a moment.
  T.first = function (column, ns) {
    let a = 0, b = column.length;
    while (a < b) { const m = (a + b) >> 1; if (column[m] < ns) a = m + 1; else b = m; }
    return a;
  };
})(self.runTimeline = self.runTimeline || {});

"use strict";
// What the page carries about the run, unpacked: see timelinepacking.go. All times are ns since the run's start.
(function (T) {
  const NARROW = { client: Int16Array, lock: Uint16Array, part: Uint8Array, granted: Uint8Array, outcome: Uint8Array, count: Uint32Array };

  async function inflate(text) {
    const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // unpack makes a typed array of each column. Numbers up to 2^53 are exact, which is what timelinepacking.go promises.
  async function unpack(table) {
    const bytes = await inflate(table.data), columns = { rows: table.rows };
    let at = 0;
    for (const column of table.columns) {
      const values = new (NARROW[column.name] || Float64Array)(table.rows);
      if (column.same === undefined) at = decode(bytes, at, values, column.delta ? 1 : 0); else values.fill(column.same);
      columns[column.name] = values;
    }
    return columns;
  }

  // decode reads zigzag varints: nearly all have one byte or two, and only the others need more than 31 bits.
  function decode(bytes, at, values, keep) {
    let last = 0;
    for (let i = 0; i < values.length; i++) {
      let byte = bytes[at++], value;
      if (byte < 128) value = (byte >>> 1) ^ -(byte & 1);
      else {
        const next = bytes[at++];
        if (next < 128) { byte = (byte & 127) | next << 7; value = (byte >>> 1) ^ -(byte & 1); }
        else {
          let zigzag = (byte & 127) + (next & 127) * 128, more = next;
          for (let factor = 16384; more > 127; factor *= 128) { more = bytes[at++]; zigzag += (more & 127) * factor; }
          value = byte & 1 ? -(zigzag + 1) / 2 : zigzag / 2;
        }
      }
      values[i] = last = last * keep + value;
    }
    return at;
  }

  // The packed lengths become moments: asked, done, believed (until), end, lease (over from then on, at the earliest).
  function holds(c, unit) {
    const n = c.rows, h = { rows: n, done: c.done, asked: c.waited, believed: c.believed, end: c.unsure, lease: c.lease,
      client: c.client, lock: c.lock, token: c.token, part: c.part, granted: c.granted, count: c.count, longest: 0, longestWait: 0 };
    for (let i = 0; i < n; i++) {
      const done = c.done[i] * unit;
      h.longestWait = Math.max(h.longestWait, c.waited[i] * unit);
      h.longest = Math.max(h.longest, (c.believed[i] + c.unsure[i]) * unit);
      h.asked[i] = done - c.waited[i] * unit;
      h.end[i] = done + (c.believed[i] + c.unsure[i]) * unit;
      h.believed[i] = done + c.believed[i] * unit;
      h.lease[i] = c.lease[i] ? done + (c.lease[i] - 1) * unit : Infinity;
      h.done[i] = done;
    }
    return h;
  }

  function writes(c, unit) {
    for (let i = 0; i < c.rows; i++) { c.time[i] *= unit; c.client[i]--; }
    return c;
  }

  // load reads the data and unpacks it. It fails in a browser that cannot inflate (before 2023).
  T.load = async function (raw) {
    const data = JSON.parse(raw);
    for (const name of ["clients", "locks", "faults", "findings", "phases", "leaders", "stalls", "steps", "silences", "texts"]) data[name] = data[name] || [];
    const [held, written] = await Promise.all([unpack(data.holds), unpack(data.writes)]);
    data.holds = holds(held, data.unit);
    data.writes = writes(written, data.unit);
    data.origin = BigInt(data.origin);
    data.hasOthers = data.holds.lock.includes(data.locks.length) || data.writes.lock.includes(data.locks.length);
    return data;
  };

  // A token is 0 for none, positive for a number, negative for a text.
  T.tokenText = (data, token) => token === 0 ? "" : token > 0 ? String(data.origin + BigInt(token - 1)) : data.texts[-token - 1];

  // first is the first row at which a sorted column has reached a moment.
  T.first = function (column, ns) {
    let a = 0, b = column.length;
    while (a < b) { const m = (a + b) >> 1; if (column[m] < ns) a = m + 1; else b = m; }
    return a;
  };
})(self.runTimeline = self.runTimeline || {});

"use strict";
// What is said about a thing that is drawn. All of it goes through textContent or fillText, so it never becomes markup.
(function (T) {
  T.clock = (ns, digits) => (ns / 1e9).toFixed(digits === undefined ? 3 : digits) + " s";
  // As history.Duration writes it.
  T.lasting = (ns) => ns >= 1e9 ? (ns / 1e9).toFixed(ns >= 1e10 ? 1 : 2) + " s" : ns >= 1e6 ? (ns / 1e6).toFixed(ns >= 1e8 ? 0 : 1) + " ms" : ns >= 1e3 ? (ns / 1e3).toFixed(0) + " µs" : ns ? ns + " ns" : "0 s";
  T.count = (n) => n.toLocaleString("en");
  const OUTCOMES = ["applied", "rejected", "duplicate", "unknown"];
  T.outcome = (i) => OUTCOMES[i] || OUTCOMES[3];
  T.REJECTED = 1;
  T.lockName = (data, i) => i < data.locks.length ? data.locks[i] : "another lock";
  T.gone = (h, i) => h.lease[i] < h.believed[i];

  const mark = (m) => [m.w, T.clock(m.a) + " to " + T.clock(m.b)];
  const says = {
    stall: (data, i) => mark(data.stalls[i]),
    step: (data, i) => mark(data.steps[i]),
    silence: (data, i) => mark(data.silences[i]),
    finding(data, i) {
      const f = data.findings[i];
      return [f.id + (f.m ? " (masked)" : ""), f.s, "at " + T.clock(f.t)];
    },
    fault(data, i) {
      const f = data.faults[i];
      return [f.w, T.clock(f.a) + " to " + T.clock(f.b), f.q && "not confirmed"];
    },
    leader(data, i) {
      const l = data.leaders[i];
      return [l.w ? l.w + " leads" : "no node leads", T.clock(l.a) + " to " + T.clock(l.b)];
    },
    hold(data, i) {
      const h = data.holds, who = data.clients[h.client[i]], lock = T.lockName(data, h.lock[i]);
      if (h.count[i]) return [T.count(h.count[i]) + (h.granted[i] ? " holds of " : " failed acquires of ") + who, T.clock(h.done[i]) + " to " + T.clock(h.believed[i])];
      if (!h.granted[i]) return [who + " waited for " + lock, "not known to have got it", T.clock(h.asked[i]) + " to " + T.clock(h.done[i])];
      const token = T.tokenText(data, h.token[i]);
      return [who + " was granted " + lock, token ? "token " + token : "no token",
        "asked " + T.clock(h.asked[i]) + ", granted " + T.clock(h.done[i]) + " (waited " + T.lasting(h.done[i] - h.asked[i]) + ")",
        "believed until " + T.clock(h.believed[i]) + " (" + T.lasting(h.believed[i] - h.done[i]) + ")",
        h.end[i] - h.believed[i] > 1e6 && "not confirmed from then to " + T.clock(h.end[i]),
        T.gone(h, i) ? "its lease may have been over from " + T.clock(h.lease[i]) + ", and it still believed" : h.lease[i] < Infinity && "lease until " + T.clock(h.lease[i]) + " at least",
        h.part[i] > 0 && "named by a finding"];
    },
    write(data, i) {
      const w = data.writes, token = T.tokenText(data, w.token[i]), mark = T.tokenText(data, w.mark[i]), value = w.value[i] ? data.texts[w.value[i] - 1] : "";
      if (w.count[i]) return [T.count(w.count[i]) + " writes to " + T.lockName(data, w.lock[i]) + ", " + T.outcome(w.outcome[i]), "around " + T.clock(w.time[i])];
      return ["write" + (value ? " of " + value : "") + " to " + T.lockName(data, w.lock[i]) + ": " + T.outcome(w.outcome[i]),
        (w.client[i] >= 0 ? "by " + data.clients[w.client[i]] + ", " : "") + (token ? "token " + token : "no token") + (mark && mark !== token ? "; highest seen " + mark : ""),
        "at " + T.clock(w.time[i]) + ", request " + w.seq[i], w.part[i] > 0 && "named by a finding"];
    },
  };
  T.words = (data, item) => says[item.kind](data, item.index).filter(Boolean).join("\n");
})(self.runTimeline = self.runTimeline || {});

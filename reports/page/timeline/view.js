"use strict";
// The window of time that is looked at, and its link: #t=12.431-15.2, in seconds; &client=… and &lock=… for a filter.
(function (T) {
  const LEAST = 1e5; // ns

  T.newView = function (end, changed) {
    const view = { from: 0, to: end, end };
    // set takes any two moments: they are put in order and into the run, and the window keeps its length where it can.
    view.set = function (from, to) {
      if (!Number.isFinite(from) || !Number.isFinite(to)) return;
      if (from > to) [from, to] = [to, from];
      const length = Math.min(Math.max(to - from, Math.min(LEAST, end)), end);
      from = Math.min(Math.max(from, 0), end - length);
      view.from = from; view.to = from + length;
      changed();
    };
    view.zoom = function (factor, around) {
      if (around === undefined) around = (view.from + view.to) / 2;
      view.set(around - (around - view.from) * factor, around + (view.to - around) * factor);
    };
    view.move = function (share) { const d = (view.to - view.from) * share; view.set(view.from + d, view.to + d); };
    view.whole = function () { view.set(0, end); };
    // show brings a stretch into the middle with some room around it.
    view.show = function (from, to) { const room = Math.max((to - from) * .15, 1e7); view.set(from - room, to + room); };
    view.span = () => view.to - view.from;
    return view;
  };

  const seconds = (ns) => String(+(ns / 1e9).toFixed(6));
  T.windowHash = function (view, names) {
    let hash = "#t=" + seconds(view.from) + "-" + seconds(view.to);
    for (const [kind, values] of Object.entries(names)) for (const name of values) hash += "&" + kind + "=" + encodeURIComponent(name);
    return hash;
  };

  // parseWindow reads such a link; null if it is none. Its author may have made any mistake.
  T.parseWindow = function (hash) {
    const fields = new URLSearchParams(hash.replace(/^#/, "")), moment = "(\\d{1,9}(?:\\.\\d{0,9})?)";
    const found = new RegExp("^" + moment + "-" + moment + "$").exec(fields.get("t") || "");
    if (!found) return null;
    return { from: found[1] * 1e9, to: found[2] * 1e9, clients: fields.getAll("client"), locks: fields.getAll("lock") };
  };
})(self.runTimeline = self.runTimeline || {});

"use strict";
// What is in view as a table, for a reader who cannot see the picture or wants its numbers. Filled while it is open.
(function (T) {
  const ROWS = 200;

  T.newTable = function (data) {
    const details = document.getElementById("inview"), body = document.getElementById("inviewrows"), note = document.getElementById("inviewnote");
    const cell = (row, text) => { const td = document.createElement("td"); td.textContent = text; row.append(td); };
    function fill(view, lanes, filter) {
      if (!details.open) return;
      const items = [];
      let item = T.next(data, lanes, filter, null, 1, view.from);
      while (item && item.at <= view.to && items.length <= ROWS) { items.push(item); item = T.next(data, lanes, filter, item, 1); }
      body.replaceChildren(...items.slice(0, ROWS).map((it) => {
        const row = document.createElement("tr"), words = T.words(data, it).split("\n");
        cell(row, T.clock(it.at, 6)); cell(row, it.kind === "step" ? "clock set" : it.kind); cell(row, words[0]); cell(row, words.slice(1).join("; "));
        return row;
      }));
      note.textContent = items.length > ROWS ? "The first " + ROWS + " from " + T.clock(view.from) + " on; zoom in for the others." :
        items.length ? items.length + " from " + T.clock(view.from) + " to " + T.clock(view.to) + "." : "Nothing happens from " + T.clock(view.from) + " to " + T.clock(view.to) + ".";
    }
    return { fill, details };
  };
})(self.runTimeline = self.runTimeline || {});

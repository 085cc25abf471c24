"use strict";
// The choice of clients and locks that are shown. A set of lane numbers, or null for all of them.
(function (T) {
  T.newFilter = function (data, changed) {
    const filter = { clients: null, locks: null }, words = document.getElementById("filterwords");
    const kinds = [["clients", data.clients], ["locks", data.hasOthers ? data.locks.concat("another lock") : data.locks]];
    const boxes = {};

    for (const [kind, names] of kinds) {
      const field = document.getElementById("choose-" + kind);
      boxes[kind] = names.map((name, i) => {
        const label = document.createElement("label"), box = document.createElement("input");
        box.type = "checkbox"; box.checked = true; box.dataset.index = i;
        box.addEventListener("change", () => read(kind));
        label.append(box, " " + name);
        field.append(label);
        return box;
      });
      field.hidden = names.length < 2;
      for (const b of field.querySelectorAll("[data-all]")) b.addEventListener("click", () => { boxes[kind].forEach((box) => { box.checked = b.dataset.all === "yes"; }); read(kind); });
    }

    // Nothing ticked shows everything: an empty picture is of no use.
    function read(kind) {
      const ticked = boxes[kind].filter((b) => b.checked);
      filter[kind] = ticked.length === 0 || ticked.length === boxes[kind].length ? null : new Set(ticked.map((b) => +b.dataset.index));
      tell(); changed();
    }
    function tell() {
      const said = kinds.map(([kind, names]) => filter[kind] ? filter[kind].size <= 4 ? Array.from(filter[kind], (i) => names[i]).join(", ") : filter[kind].size + " " + kind : "").filter(Boolean);
      words.textContent = said.length ? said.join(" · ") : "everything";
    }

    // names are what a link has to carry; choose takes them back. Names that the run does not have are passed over.
    filter.names = () => Object.fromEntries(kinds.map(([kind, names]) => [kind.slice(0, -1), filter[kind] ? Array.from(filter[kind], (i) => names[i]) : []]));
    filter.choose = function (chosen) {
      for (const [kind, names] of kinds) {
        const wanted = chosen[kind] || [], known = wanted.some((name) => names.includes(name));
        boxes[kind].forEach((b, i) => { b.checked = !known || wanted.includes(names[i]); });
        read(kind);
      }
    };
    return filter;
  };
})(self.runTimeline = self.runTimeline || {});

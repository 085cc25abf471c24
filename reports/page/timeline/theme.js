"use strict";
// Colours and patterns as the page's style has them. What matters has a shape or a pattern besides its colour.
(function (T) {
  const NAMES = ["bg", "panel", "ink", "soft", "faint", "rule", "stripe", "red", "redbg", "teal", "amber", "older", "newer", "onbar", "other", "fault", "link"];

  // stripes makes a pattern of slanted lines, to the right or to the left.
  function stripes(pen, colour, back, spacing, thick, left) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = spacing;
    const p = tile.getContext("2d");
    if (back) { p.fillStyle = back; p.fillRect(0, 0, spacing, spacing); }
    if (left) { p.translate(spacing, 0); p.scale(-1, 1); }
    p.strokeStyle = colour; p.lineWidth = thick;
    p.beginPath();
    for (const shift of [-spacing, 0, spacing]) { p.moveTo(shift - 2, spacing + 2); p.lineTo(shift + spacing + 2, -2); }
    p.stroke();
    return pen.createPattern(tile, "repeat");
  }

  T.readTheme = function (pen) {
    const style = getComputedStyle(document.documentElement), colour = {};
    for (const name of NAMES) colour[name] = style.getPropertyValue("--" + name).trim();
    colour.hatch = stripes(pen, colour.fault, "", 8, 1.5, false);
    colour.gone = stripes(pen, colour.red, colour.redbg, 6, 2, true);
    colour.part = [colour.other, colour.older, colour.newer];
    return colour;
  };
  T.FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";
})(self.runTimeline = self.runTimeline || {});

"use strict";
// The whole run in a strip above the picture: findings as ticks, faults shaded, how many holds were granted, and a frame
// around the window that is looked at, to be dragged by its middle or its sides.
(function (T) {
  const HEIGHT = 46, TICKS = 16, GRIP = 7;

  T.newMinimap = function (canvas, data, view) {
    const pen = canvas.getContext("2d"), base = document.createElement("canvas");
    let width = 0, columns = 1;
    const x = (ns) => T.GUTTER + ns / view.end * columns, time = (px) => (px - T.GUTTER) / columns * view.end;

    // prepare draws what does not change while one zooms and moves.
    function prepare(to, ratio, colour) {
      width = to; columns = Math.max(1, width - T.GUTTER - T.RIGHT);
      canvas.style.height = HEIGHT + "px";
      for (const c of [canvas, base]) { c.width = Math.round(width * ratio); c.height = Math.round(HEIGHT * ratio); }
      const p = base.getContext("2d");
      p.setTransform(ratio, 0, 0, ratio, 0, 0); pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      p.fillStyle = colour.panel; p.fillRect(0, 0, width, HEIGHT);
      p.fillStyle = colour.stripe; p.fillRect(T.GUTTER, 0, columns, HEIGHT);
      activity(p, colour);
      p.fillStyle = colour.hatch;
      for (const f of data.faults) if (!f.q) p.fillRect(x(f.a), TICKS, Math.max(1, x(f.b) - x(f.a)), HEIGHT - TICKS);
      for (const f of data.findings) {
        const px = x(f.t);
        p.fillStyle = f.m ? colour.teal : colour.red;
        p.fillRect(px - 1, 2, 2, HEIGHT - 2);
        p.beginPath(); p.moveTo(px - 4, 1); p.lineTo(px + 4, 1); p.lineTo(px, 8); p.fill();
      }
      p.font = "12.5px " + T.FONT; p.textBaseline = "middle"; p.fillStyle = colour.soft; p.fillText("whole run", 8, HEIGHT / 2);
    }

    function activity(p, colour) {
      const grants = new Uint32Array(Math.ceil(columns) + 1), h = data.holds;
      for (let i = 0; i < h.rows; i++) if (h.granted[i]) grants[Math.min(Math.max(0, Math.floor(h.done[i] / view.end * columns)), grants.length - 1)] += h.count[i] || 1;
      const most = grants.reduce((a, b) => Math.max(a, b), 1), room = HEIGHT - TICKS - 2;
      p.fillStyle = colour.other;
      grants.forEach((n, c) => { if (n) { const tall = Math.max(2, n / most * room); p.fillRect(T.GUTTER + c, HEIGHT - tall, 1, tall); } });
    }

    function draw(colour) {
      if (!width) return;
      pen.drawImage(base, 0, 0, width, HEIGHT);
      const a = x(view.from), b = Math.max(x(view.to), a + 3);
      pen.globalAlpha = .6; pen.fillStyle = colour.panel;
      pen.fillRect(T.GUTTER, 0, a - T.GUTTER, HEIGHT); pen.fillRect(b, 0, T.GUTTER + columns - b, HEIGHT);
      pen.globalAlpha = 1; pen.strokeStyle = colour.link; pen.lineWidth = 2; pen.strokeRect(a, 1, b - a, HEIGHT - 2);
      pen.fillStyle = colour.link; pen.fillRect(a - 2, HEIGHT / 2 - 7, 4, 14); pen.fillRect(b - 2, HEIGHT / 2 - 7, 4, 14);
    }

    let drag = null;
    canvas.addEventListener("pointerdown", (e) => {
      const a = x(view.from), b = x(view.to), px = e.offsetX;
      if (px < a - GRIP || px > b + GRIP) { const half = view.span() / 2; view.set(time(px) - half, time(px) + half); }
      const side = Math.abs(px - a) < GRIP ? "from" : Math.abs(px - b) < GRIP ? "to" : "both";
      drag = { side: view.span() >= view.end && side === "both" ? "draw" : side, at: time(px), from: view.from, to: view.to };
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!drag) return;
      const now = Math.min(Math.max(time(e.offsetX), 0), view.end), d = now - drag.at;
      if (drag.side === "draw") { if (Math.abs(d) / view.end * columns > 3) view.set(drag.at, now); } // a new window, from the whole run
      else if (drag.side === "from") view.set(now, drag.to);
      else if (drag.side === "to") view.set(drag.from, now);
      else view.set(drag.from + d, drag.to + d);
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { drag = null; });
    canvas.addEventListener("dblclick", () => view.whole());
    return { prepare, draw };
  };
})(self.runTimeline = self.runTimeline || {});

// The upper part of the page as a drawing of lines and words: a picture for a page of
// documentation, which is smaller than one in pixels. `record` is to run before the page draws, and
// `drawing(height)` returns the picture.
(() => {
  const prototype = CanvasRenderingContext2D.prototype;
  const round = number => String(Math.round(number * 10) / 10);
  const escaped = text => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
  const shown = color => color && color !== "transparent" && !/, 0\)$/.test(color);
  const hex = color => {
    const [red, green, blue] = color.match(/[\d.]+/g).map(Number);
    return color[0] === "#" ? color : "#" + [red, green, blue].map(part => Math.round(part).toString(16).padStart(2, "0")).join("");
  };

  // What each canvas has been told, since it was cleared.
  window.record = () => {
    const path = pen => pen.canvas.path_ ??= [];
    const done = (pen, shape) => (pen.canvas.shapes_ ??= []).push(shape);
    const before = (name, act) => {
      const own = prototype[name];
      prototype[name] = function (...rest) { act(this, ...rest); return own.apply(this, rest); };
    };
    const alpha = pen => pen.globalAlpha < 1 ? ` opacity="${round(pen.globalAlpha)}"` : "";
    before("clearRect", pen => { pen.canvas.shapes_ = []; });
    before("beginPath", pen => { pen.canvas.path_ = []; });
    before("moveTo", (pen, x, y) => path(pen).push(["M", x, y]));
    before("lineTo", (pen, x, y) => path(pen).push([path(pen).length ? "L" : "M", x, y]));
    before("stroke", pen => done(pen, { path: [...path(pen)], style: `fill="none" stroke="${hex(pen.strokeStyle)}" stroke-width="${pen.lineWidth}"` }));
    before("fill", pen => done(pen, { path: [...path(pen)], style: `fill="${hex(pen.fillStyle)}"${alpha(pen)}` }));
    before("fillText", (pen, text, x, y) => {
      const anchor = { right: "end", center: "middle" }[pen.textAlign] ?? "start";
      done(pen, { text, x, y: pen.textBaseline === "middle" ? y + 4 : y, style: `font-size="11" text-anchor="${anchor}" fill="${hex(pen.fillStyle)}"` });
    });
  };

  window.drawing = (title, height) => {
    const width = innerWidth, svg = [];
    const rect = (x, y, wide, high, color, more = "") => svg.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(wide)}" height="${round(high)}" fill="${hex(color)}"${more}/>`);
    // The part of the window in which an element can be seen.
    const clip = element => {
      let [top, bottom, right] = [0, height, width];
      for (let at = element; at; at = at.parentElement) {
        if (getComputedStyle(at).overflowY === "visible") continue;
        const box = at.getBoundingClientRect();
        [top, bottom, right] = [Math.max(top, box.top), Math.min(bottom, box.bottom), Math.min(right, box.right)];
      }
      return { top, bottom, right };
    };
    const canvas = (element, box) => {
      for (const { path, text, x, y, style } of element.shapes_ ?? []) {
        if (text !== undefined) svg.push(`<text x="${round(box.left + x)}" y="${round(box.top + y)}" ${style}>${escaped(text)}</text>`);
        else svg.push(`<path d="${path.map(([step, x, y]) => step + round(box.left + x) + " " + round(box.top + y)).join("")}" ${style}/>`);
      }
    };
    const words = (node, style, within) => {
      const range = document.createRange();
      range.selectNodeContents(node);
      let [box] = range.getClientRects();
      if (!box || !node.data.trim() || box.top < within.top || box.bottom > within.bottom || box.left >= within.right) return;
      let text = node.data.replace(/\s+/g, " "), end = node.length;
      while (end > 0 && range.getBoundingClientRect().right > within.right + 1) range.setEnd(node, --end);
      if (end < node.length) {
        range.setEnd(node, end = Math.max(0, end - 2));
        text = node.data.slice(0, end) + "…";
      }
      const size = parseFloat(style.fontSize), weight = style.fontWeight >= 600 ? ' font-weight="bold"' : "";
      const lead = text !== text.trimStart() ? size * 0.3 : 0, trail = text !== text.trimEnd() ? size * 0.3 : 0;
      const length = end === node.length && text.trim().length > 3 ? ` textLength="${round(box.width - lead - trail)}"` : "";
      svg.push(`<text x="${round(box.left + lead)}" y="${round(box.bottom - size * 0.236)}" font-size="${round(size)}" fill="${hex(style.color)}"${weight}${length}>${escaped(text.trim())}</text>`);
    };
    const walk = element => {
      const style = getComputedStyle(element), box = element.getBoundingClientRect();
      if (style.display === "none" || style.visibility === "hidden" || box.top >= height) return;
      const within = clip(element.parentElement ?? element);
      const isWhole = box.top >= within.top - 1 && box.bottom <= within.bottom + 1;
      const radius = parseFloat(style.borderTopLeftRadius) || 0, top = Math.max(box.top, within.top), bottom = Math.min(box.bottom, within.bottom);
      if (bottom > top && box.width > 0) {
        if (shown(style.backgroundColor)) rect(box.left, top, box.width, bottom - top, style.backgroundColor, radius ? ` rx="${round(radius)}"` : "");
        const border = side => parseFloat(style[`border${side}Width`]) || 0;
        if (radius && border("Top")) {
          svg.push(`<rect x="${round(box.left + 0.5)}" y="${round(box.top + 0.5)}" width="${round(box.width - 1)}" height="${round(box.height - 1)}" rx="${round(Math.min(radius, box.height / 2))}" fill="none" stroke="${hex(style.borderTopColor)}"/>`);
        } else {
          if (border("Left")) rect(box.left, top, border("Left"), bottom - top, style.borderLeftColor);
          if (border("Bottom") && isWhole) rect(box.left, box.bottom - border("Bottom"), box.width, border("Bottom"), style.borderBottomColor);
          if (border("Top") && isWhole) rect(box.left, box.top, box.width, border("Top"), style.borderTopColor);
        }
      }
      if (element.tagName === "CANVAS") return void (isWhole && canvas(element, box));
      if (element.tagName === "INPUT") {
        const middle = (box.top + box.bottom) / 2 + 5;
        return void svg.push(`<text x="${round(box.left + 10)}" y="${round(middle)}" font-size="14" fill="#757575">${escaped(element.placeholder)}</text>`);
      }
      // A mark before the words, or behind them.
      for (const [part, x] of [["::before", box.left + parseFloat(style.paddingLeft)], ["::after", box.right - parseFloat(style.paddingRight) - 9]]) {
        const { content, color, fontSize } = getComputedStyle(element, part), [, mark] = content.match(/^"(.+)"$/) ?? [];
        if (mark && isWhole) svg.push(`<text x="${round(x)}" y="${round((box.top + box.bottom) / 2 + 5)}" font-size="${parseFloat(fontSize)}" fill="${hex(color)}">${escaped(mark)}</text>`);
      }
      for (const node of element.childNodes) {
        if (node.nodeType === Node.TEXT_NODE) words(node, style, clip(element));
        else if (node.nodeType === Node.ELEMENT_NODE) walk(node);
      }
    };
    walk(document.body);
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif">\n<title>${escaped(title)}</title>\n<rect width="${width}" height="${height}" fill="#ffffff"/>\n${svg.join("\n")}\n</svg>\n`;
  };
})()

// The reader: a panel beside the chat with an article as the archive has it, scrolled to what the model was given.
// No script runs in the article's frame; this one reaches into it to find the passages, which stand in its address.
(() => {
  const LEAST = 0.6; // of a passage's pairs of words, to take an element for it
  let panel = null, frame = null, title = null, note = null, opener = null;

  const make = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };

  const build = () => {
    title = make("h2");
    note = make("p", { role: "status" });
    const back = make("button", { type: "button", "aria-label": "Back in the article's links" }, "←");
    const close = make("button", { type: "button", "aria-label": "Close the article" }, "×");
    back.onclick = () => frame.contentWindow.history.back();
    close.onclick = hide;
    frame = make("iframe", { sandbox: "allow-same-origin", title: "Article", referrerpolicy: "no-referrer" });
    frame.addEventListener("load", loaded);
    panel = make("aside", { id: "reader", "aria-label": "Article" }, make("header", {}, back, title, close), note, frame);
    panel.addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); hide(); } });
    document.body.append(panel);
  };

  const show = (address, link) => {
    if (!panel) build();
    opener = link;
    title.textContent = link.textContent;
    note.textContent = "";
    document.body.classList.toggle("beside", innerWidth > 900);
    panel.classList.toggle("over", innerWidth <= 900);
    frame.src = address;
    panel.querySelector("header button:last-child").focus();
  };

  const hide = () => {
    document.body.classList.remove("beside");
    panel.remove();
    panel = null;
    if (opener && opener.isConnected) opener.focus();
  };

  const pairs = (text) => {
    const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
    return new Set(words.length < 2 ? words : words.slice(1).map((word, index) => words[index] + " " + word));
  };

  const find = (page, passage) => {
    const wanted = pairs(passage);
    let best = null, bestShare = LEAST, bestSize = Infinity;
    for (const element of page.body.querySelectorAll("p, li, tr, dd, dt, blockquote, pre, caption, h1, h2, h3, div, table")) {
      if (element.textContent.length > 20000) continue;
      const has = pairs(element.textContent);
      let share = 0;
      for (const pair of wanted) if (has.has(pair)) share += 1 / wanted.size;
      if (share > bestShare + 0.01 || (share > bestShare - 0.01 && has.size < bestSize)) {
        [best, bestShare, bestSize] = [element, Math.max(share, bestShare), has.size];
      }
    }
    return best;
  };

  const loaded = () => {
    const page = frame.contentDocument;
    if (!page || !page.body || page.URL === "about:blank") {
      note.textContent = "This cannot be shown.";
      return;
    }
    const heading = page.querySelector("h1");
    title.textContent = page.title.trim() || (heading && heading.textContent.trim()) || "Article";
    note.textContent = "";
    page.addEventListener("click", (event) => {
      const link = event.target.closest && event.target.closest("a[href], area[href]");
      if (!link) return;
      const address = new URL(link.href, page.baseURI);
      if (address.origin === location.origin && address.pathname.includes("/archive/")) {
        if (link.target) { event.preventDefault(); frame.src = address; }
        return;
      }
      event.preventDefault();
      note.textContent = "This link leaves the archive: " + address.href;
    });
    page.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
    const found = new URL(page.URL).searchParams.getAll("read").map((passage) => find(page, passage)).filter(Boolean);
    for (const element of found) {
      const style = { background: "#fff1b8", color: "#111", "box-shadow": "0 0 0 3px #fff1b8" };
      for (const [name, value] of Object.entries(style)) element.style.setProperty(name, value, "important");
      if (page.defaultView.getComputedStyle(element).display !== "block") continue;
      element.style.display = "flow-root"; // beside an infobox, not under it, where there is room
      if (element.clientWidth < 180) element.style.display = "";
    }
    if (!found.length) return;
    for (let each = found[0]; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    found[0].scrollIntoView({ block: "center" });
  };

  // Links of the chat: what was read, and addresses of Wikipedia or names of articles that the model wrote.
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("#chat .bot a[href]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const here = new URL(".", location.href);
    const address = new URL(link.href);
    const wiki = /(^|\.)wikipedia\.org$/.test(address.hostname) && address.pathname.match(/^\/wiki\/(.+)$/);
    let target = null;
    if (wiki) target = wiki[1];
    else if (address.origin === here.origin && address.pathname.startsWith(here.pathname)) {
      target = address.pathname.slice(here.pathname.length);
      if (target.startsWith("archive/")) {
        event.preventDefault();
        show(address.href, link);
        return;
      }
    }
    if (!target) return;
    try { target = decodeURIComponent(target); } catch { /* a lone percent sign */ }
    event.preventDefault();
    show(new URL("archive/?" + new URLSearchParams({ title: target }), here).href, link);
  }, true);
})();

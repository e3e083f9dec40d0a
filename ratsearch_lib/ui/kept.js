// Conversations kept in this browser: the list in the sidebar, and the way between it and the server.
(() => {
  const LIST = "ratsearch:list", ITEM = "ratsearch:conversation:", CURRENT = "ratsearch:current";
  const MOST = 4_000_000; // characters in all: browsers allow about five million
  let said = "", chosen = "", opened = false;

  const list = () => {
    try { return JSON.parse(localStorage.getItem(LIST)) || []; } catch { return []; }
  };
  const write = (items) => localStorage.setItem(LIST, JSON.stringify(items));
  const forget = (id) => {
    localStorage.removeItem(ITEM + id);
    write(list().filter((item) => item.id !== id));
  };

  const keep = (text) => {
    if (!text) return;
    const { id, turns } = JSON.parse(text);
    if (!turns.length) { forget(id); draw(); return; }
    sessionStorage.setItem(CURRENT, id);
    const before = list().find((item) => item.id === id);
    const name = (before && before.name) || turns[0].question.replace(/\s+/g, " ").slice(0, 80);
    const item = { id, name, time: Date.now(), chars: text.length };
    let others = list().filter((each) => each.id !== id).sort((a, b) => b.time - a.time);
    let dropped = 0;
    const drop = () => { forget(others.pop().id); dropped += 1; };
    const size = () => others.reduce((sum, each) => sum + each.chars, text.length);
    while (others.length && size() > MOST) drop();
    for (;;) {
      try {
        if (text.length > MOST) throw new Error("too long");
        localStorage.setItem(ITEM + id, text);
        write([item, ...others]);
        break;
      } catch {
        if (others.length && text.length <= MOST) { drop(); continue; }
        said = "This conversation is too long to be kept in the browser: export it.";
        draw();
        return;
      }
    }
    const many = dropped === 1 ? "The oldest conversation was" : `The ${dropped} oldest conversations were`;
    said = dropped ? `${many} removed, to make room for this one.` : "";
    draw();
  };

  const open = (text) => { chosen = text; document.getElementById("open-kept").click(); };
  const download = (name, text, type) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name.replace(/[^\p{L}\p{N} _.-]/gu, "").trim().slice(0, 60) || "conversation";
    link.download += type === "text/markdown" ? ".md" : ".json";
    link.click();
    URL.revokeObjectURL(link.href);
  };

  const button = (label, name, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    if (name) made.setAttribute("aria-label", name);
    made.onclick = act;
    return made;
  };

  const row = (item) => {
    const line = document.createElement("li");
    const show = button(item.name, "", () => open(localStorage.getItem(ITEM + item.id) || ""));
    show.className = "open";
    show.title = item.name;
    if (sessionStorage.getItem(CURRENT) === item.id) show.setAttribute("aria-current", "true");
    const more = document.createElement("details");
    const summary = document.createElement("summary");
    summary.textContent = "⋯";
    summary.setAttribute("aria-label", `More: ${item.name}`);
    const rename = button("Rename", "", () => {
      const box = document.createElement("input");
      box.value = item.name;
      box.maxLength = 80;
      box.setAttribute("aria-label", "New name");
      const done = () => {
        const name = box.value.trim();
        if (name) write(list().map((each) => (each.id === item.id ? { ...each, name } : each)));
        draw();
      };
      box.onkeydown = (event) => { if (event.key === "Enter") done(); if (event.key === "Escape") draw(); };
      box.onblur = done;
      line.replaceChildren(box);
      box.select();
    });
    const remove = button("Delete", "", () => {
      if (remove.textContent === "Delete") { remove.textContent = "Really delete?"; return; }
      forget(item.id);
      if (sessionStorage.getItem(CURRENT) === item.id) sessionStorage.removeItem(CURRENT);
      draw();
    });
    const json = button("Export (JSON)", "", () => download(item.name, localStorage.getItem(ITEM + item.id), "application/json"));
    const markdown = button("Export (Markdown)", "", () => {
      chosen = localStorage.getItem(ITEM + item.id);
      document.getElementById("kept-as-markdown").click();
    });
    const menu = document.createElement("div");
    menu.append(rename, json, markdown, remove);
    more.append(summary, menu);
    line.append(show, more);
    return line;
  };

  const draw = () => {
    const place = document.getElementById("kept");
    if (!place) return;
    const items = document.createElement("ul");
    items.append(...list().sort((a, b) => b.time - a.time).map(row));
    const file = document.createElement("input");
    file.type = "file";
    file.accept = ".json,application/json";
    file.hidden = true;
    file.onchange = async () => { if (file.files[0]) open(await file.files[0].text()); };
    const note = document.createElement("p");
    note.setAttribute("role", "status");
    note.textContent = said || (list().length ? "" : "Kept in this browser alone, once there are some.");
    place.replaceChildren(items, note, button("Import…", "", () => file.click()), file);
  };

  window.ratsearch = {
    keep,
    chosen: () => chosen,
    asMarkdown: (text) => { if (text) download(text.split("\n")[0].replace(/^#+ */, ""), text, "text/markdown"); },
    fresh: () => { sessionStorage.removeItem(CURRENT); said = ""; draw(); },
  };
  addEventListener("storage", draw);
  const ready = setInterval(() => {
    const place = document.getElementById("kept");
    if (!place || !document.getElementById("open-kept")) return;
    if (!place.firstChild) draw();
    const examples = document.querySelector("#chat .examples, #chat .placeholder-content");
    if (opened || !examples) return;
    opened = true; // a page that was loaded again, or whose server was started again, goes on where it was
    clearInterval(ready);
    const text = localStorage.getItem(ITEM + sessionStorage.getItem(CURRENT));
    if (text) open(text);
  }, 200);
})();

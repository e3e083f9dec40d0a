// Keep the end of the chat in sight while it grows, unless the reader has scrolled up. (Chatbot's own autoscroll pulls
// a reader back down after every update.)
(() => {
  let box = null;
  let follow = true;
  let last = 0;
  const growth = new MutationObserver(() => { if (follow) box.scrollTop = box.scrollHeight; });
  const scrolled = () => {
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 60;
    if (atEnd) follow = true;
    else if (box.scrollTop < last) follow = false;
    last = box.scrollTop;
  };
  const look = () => {
    const found = document.querySelector("#chat .bubble-wrap");
    if (!found || found === box) return;
    growth.disconnect();
    box = found;
    follow = true;
    last = 0;
    box.addEventListener("scroll", scrolled, { passive: true });
    growth.observe(box, { childList: true, subtree: true, characterData: true });
  };
  setInterval(look, 300);
})();

// Keys, and what is edited.
(() => {
  const MARK = "\u2060"; // before a question that stands in the box as it was typed: messages.py takes it off
  const ENTITIES = { "&#91;": "[", "&#92;": "\\" };
  let asked = "", when = 0;
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      const stop = document.querySelector("#box .stop-button");
      if (stop) stop.click();
    }
    if (event.key === "Enter" && !event.shiftKey && event.target.matches && event.target.matches("#box textarea")) {
      const again = event.target.value === asked && event.timeStamp - when < 1000;
      if (again) { // pressed twice
        event.preventDefault();
        event.stopImmediatePropagation();
      } else [asked, when] = [event.target.value, event.timeStamp];
    }
  }, true);
  document.addEventListener("focusin", (event) => {
    const box = event.target;
    if (!box.matches || !box.matches("#chat textarea") || box.value.startsWith(MARK)) return;
    box.value = MARK + box.value.replace(/\\([!-/:-@[-`{-~])|&#9[12];/g, (found, sign) => sign || ENTITIES[found]);
    box.dispatchEvent(new Event("input", { bubbles: true }));
  });
})();

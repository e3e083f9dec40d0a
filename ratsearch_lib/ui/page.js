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

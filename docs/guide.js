// The guide's search, the keys that scroll it, and pictures as dark as the page.
"use strict";

/** Loads a script that lies beside the page, which works for files without a server, too. */
function load(name) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    Object.assign(script, { src: name, onload: resolve, onerror: reject });
    document.head.append(script);
  });
}

/** The text around the first of the words. */
function excerpt(text, words) {
  const at = Math.max(0, ...words.map((word) => text.toLowerCase().indexOf(word)));
  const from = at < 60 ? 0 : text.indexOf(" ", at - 60) + 1;
  return (from ? "… " : "") + text.slice(from, from + 150) + (from + 150 < text.length ? " …" : "");
}

function addSearch() {
  const box = document.querySelector(".guide-search");
  if (box === null) return;
  box.insertAdjacentHTML("afterbegin",
    `<input type="search" placeholder="Search the guide" aria-label="Search the guide" autocomplete="off">
    <ol hidden aria-label="Found"></ol>`);
  const [input, list] = [box.querySelector("input"), box.querySelector("ol")];
  let index = null;
  const ready = async () => {
    if (index !== null) return;
    await Promise.all([load("lunr.js"), load("guide-text.js")]);
    index = lunr(function () {
      this.ref("at");
      this.field("title", { boost: 6 });
      this.field("page", { boost: 3 });
      this.field("text");
      // Every word counts: the first one of "all-reduce", too.
      this.pipeline.remove(lunr.stopWordFilter);
      guideText.forEach((section, at) => this.add({ at, ...section }));
    });
  };
  const show = async () => {
    await ready();
    const words = input.value.toLowerCase().match(/[a-z0-9_]+/g) ?? [];
    list.hidden = words.length === 0;
    if (list.hidden) return;
    const found = index.query((query) => {
      for (const word of words) {
        query.term(lunr.tokenizer(word), { presence: lunr.Query.presence.REQUIRED });
      }
    });
    const begun = found.length > 0 ? found : index.query((query) => {
      for (const word of words) {
        query.term(word, { wildcard: lunr.Query.wildcard.TRAILING, presence: lunr.Query.presence.REQUIRED });
      }
    });
    // Where the words stand side by side comes first.
    const phrase = words.join(" ");
    const plain = (text) => (text.toLowerCase().match(/[a-z0-9_]+/g) ?? []).join(" ");
    const best = begun.map(({ ref, score }) => ({ section: guideText[ref], score }))
      .map((hit) => ({ ...hit, score: hit.score * (plain(hit.section.text).includes(phrase) ? 4 : 1) }))
      .sort((a, b) => b.score - a.score).slice(0, 12);
    list.replaceChildren(...best.map(({ section }) => {
      const [item, link, text] = [document.createElement("li"), document.createElement("a"), document.createElement("p")];
      link.href = section.url;
      link.textContent = section.title === section.page ? section.page : `${section.title} – ${section.page}`;
      text.textContent = excerpt(section.text, words);
      item.append(link, text);
      return item;
    }));
    if (best.length === 0) list.textContent = "Nothing found.";
  };
  input.addEventListener("focus", () => ready().catch(() => { input.placeholder = "No search: lunr.js is missing"; }));
  input.addEventListener("input", () => show().catch(() => {}));
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape") {
      list.hidden = true;
    }
  });
}

document.addEventListener("DOMContentLoaded", () => {
  addSearch();
  if (!location.hash) document.getElementById("doc-content")?.focus({ preventScroll: true });
});

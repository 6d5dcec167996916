// What searchtools.js of Sphinx asks before it looks.

// From file:// no script may read another page, so results have titles alone.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// Sphinx's own points, and with them: the page that is called what was typed comes first, a diagnostic by its code or an algorithm
// by its key; what says why or when something came to be comes behind pages that say what it does.
var Scorer = {
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
  score: ([page, , , , points]) => {
    const typed = (new URLSearchParams(location.search).get("q") ?? "").trim().toLowerCase();
    if (page.toLowerCase().split("/").pop() === typed) return points + 100;
    return points - (/^(decisions|project)\//.test(page) ? 1 : 0);
  },
};

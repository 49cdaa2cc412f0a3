/**
 * Makes tabs of examples that do the same in several languages, as the WAI-ARIA pattern describes them. A choice
 * applies to all examples, and is remembered for the next page.
 */

const REMEMBERED = 'docs-language';

const groups = [...document.querySelectorAll('.languages')].map(createTabs);
const remembered = recall();
if (remembered !== null) choose(remembered);
// Hiding examples has moved the part of the page that the URL names. After a reload or "back", the browser restores
// the position itself.
const [visit] = performance.getEntriesByType('navigation');
if (visit?.type === 'navigate') document.querySelector(':target')?.scrollIntoView();

/** @returns A function that shows the example in a language, if there is one. */
function createTabs(group, index) {
  const list = document.createElement('div');
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', 'Language of the example');
  const tabs = [...group.querySelectorAll('.language')].map((panel, position) => {
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.id = `language-${index}-${position}`;
    tab.textContent = panel.querySelector('p').textContent;
    tab.setAttribute('role', 'tab');
    panel.id = `${tab.id}-panel`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', tab.id);
    tab.setAttribute('aria-controls', panel.id);
    return { tab, panel, language: tab.textContent };
  });
  list.append(...tabs.map(({ tab }) => tab));
  list.addEventListener('click', ({ target }) => take(target.closest('[role="tab"]')));
  list.addEventListener('keydown', event => {
    const next = neighbour(list, event);
    if (next === null) return;
    event.preventDefault();
    take(next);
    next.focus();
  });
  group.prepend(list);
  group.classList.add('tabbed');
  const show = language => {
    if (!tabs.some(each => each.language === language)) return;
    for (const { tab, panel, language: own } of tabs) {
      const isShown = own === language;
      tab.setAttribute('aria-selected', String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      panel.hidden = !isShown;
    }
  };
  show(tabs[0].language);
  return show;
}

/** The tab that a key leads to; null for any other key. */
function neighbour(list, { key, target }) {
  const tabs = [...list.children];
  const last = tabs.length - 1;
  const from = tabs.indexOf(target);
  if (key === 'ArrowRight') return tabs[from === last ? 0 : from + 1];
  if (key === 'ArrowLeft') return tabs[from === 0 ? last : from - 1];
  if (key === 'Home') return tabs[0];
  if (key === 'End') return tabs[last];
  return null;
}

/** Chooses the language of a tab, which stays where it is while the examples above it change. */
function take(tab) {
  if (tab === null) return;
  const { top } = tab.getBoundingClientRect();
  choose(tab.textContent);
  scrollBy({ top: tab.getBoundingClientRect().top - top, behavior: 'instant' });
  remember(tab.textContent);
}

function choose(language) {
  for (const show of groups) show(language);
}

// Storage may be disabled; then nothing is remembered.
function recall() {
  try {
    return localStorage.getItem(REMEMBERED);
  } catch {
    return null;
  }
}

function remember(language) {
  try {
    localStorage.setItem(REMEMBERED, language);
  } catch {}
}

/** Searches the documentation in an index that the service makes of its pages, loaded on first use. */

const SHOWN_MAXIMUM = 8;
/** Shortest term that is looked for inside words, as in `customerReferenceId`. */
const PART_MINIMUM = 5;
/** Shortest term in which one wrong letter is corrected: shorter ones are close to too many words. */
const TYPO_MINIMUM = 4;
/** Time limit for loading the index, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Scores of matches. The beginning of a word of the heading scores by its share of that word. */
const WORTH = { term: 64, heading: 16, page: 2, title: 4, wordStart: 2, wordPart: 1 };

const search = document.querySelector('.search');
const input = search.querySelector('input');
const found = search.querySelector('.found');
const results = found.querySelector('ul');
const status = found.querySelector('[role="status"]');

/** Sections of all pages; undefined before they are asked for. */
let index;

input.addEventListener('focus', load);
input.addEventListener('input', show);
input.addEventListener('click', show);
search.addEventListener('keydown', move);
search.addEventListener('focusout', ({ relatedTarget }) => {
  if (!search.contains(relatedTarget)) close();
});
// Some browsers do not focus a link that is clicked: losing the focus would close the list before the click.
found.addEventListener('pointerdown', event => event.preventDefault());
document.addEventListener('keydown', event => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (key !== '/' || ctrlKey || metaKey || altKey || target.matches('input, textarea')) return;
  event.preventDefault();
  input.focus();
  input.select();
});

function load() {
  if (index !== undefined) return index;
  index = fetch(search.dataset.index, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    .then(response => (response.ok ? response.json() : Promise.reject(response.status)))
    .then(pages => pages.flatMap(readPage));
  // The next focus tries again.
  const forget = () => {
    index = undefined;
  };
  index.catch(() => input.addEventListener('blur', forget, { once: true }));
  return index;
}

function readPage([path, title, sections]) {
  return sections.map(([id, heading, words]) => ({
    href: id === '' ? path : `${path}#${id}`,
    title,
    heading: heading || title,
    isPage: id === '',
    named: withParts(split(heading || title)),
    titled: withParts(split(title)),
    words: words.split(' '),
  }));
}

function split(text) {
  return text.toLowerCase().match(/[\w-]+/g) ?? [];
}

/** Finds `api_key_expired` by its last word, too. */
function withParts(words) {
  return words.flatMap(word => (/[_-]/.test(word) ? [word, ...word.split(/[_-]/)] : word));
}

async function show() {
  const query = input.value;
  const terms = split(query);
  if (terms.length === 0) return close();
  let sections;
  try {
    sections = await load();
  } catch {
    results.replaceChildren();
    return tell('The index cannot be loaded. Try again later.');
  }
  if (query !== input.value) return;
  const meant = terms.map(term => correct(term, sections));
  const matches = sections
    .map(section => ({ section, worth: worthOf(section, meant) }))
    .filter(({ worth }) => worth > 0)
    .sort((one, other) => other.worth - one.worth);
  const shown = matches.slice(0, SHOWN_MAXIMUM);
  results.replaceChildren(...shown.map(({ section }) => link(section)));
  const isCorrected = meant.some((term, index) => term !== terms[index]);
  tell(countOf(matches.length, query.trim()) + (isCorrected ? ` for “${meant.join(' ')}”` : ''));
}

function countOf(count, query) {
  if (count === 0) return `Nothing found for “${query}”.`;
  if (count === 1) return '1 result';
  return count > SHOWN_MAXIMUM ? `${SHOWN_MAXIMUM} of ${count} results` : `${count} results`;
}

/**
 * The term itself if it finds something, else a word that differs by one letter; words of headings are tried first.
 */
function correct(term, sections) {
  if (term.length < TYPO_MINIMUM) return term;
  if (sections.some(section => worthOf(section, [term]) > 0)) return term;
  const isMeant = word => differsByOne(word, term);
  for (const part of ['named', 'words']) {
    for (const section of sections) {
      const word = section[part].find(isMeant);
      if (word !== undefined) return word;
    }
  }
  return term;
}

/** Whether the words differ by one letter: missing, extra, replaced, or swapped with the next. */
function differsByOne(one, other) {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  const [left, right] = [short.slice(at), long.slice(at)];
  if (short.length < long.length) return left === right.slice(1);
  const isSwapped = left[0] === right[1] && left[1] === right[0];
  return left.slice(1) === right.slice(1) || (isSwapped && left.slice(2) === right.slice(2));
}

/** Zero unless a term is found in the section itself; sections with more of the terms score higher. */
function worthOf({ named, titled, words, isPage }, terms) {
  let sum = isPage ? WORTH.page : 0;
  let isOwn = false;
  for (const term of terms) {
    const isTitled = titled.some(word => word.startsWith(term));
    const shares = named.map(word => (word.startsWith(term) ? term.length / word.length : 0));
    const share = Math.max(0, ...shares);
    const worth = share > 0 ? WORTH.heading * share : worthBelow(words, term);
    isOwn ||= worth > 0;
    if (worth > 0 || isTitled) sum += WORTH.term;
    sum += worth + (isTitled && !isPage ? WORTH.title : 0);
  }
  return isOwn ? sum : 0;
}

/** The index has either the singular or the plural of a word, so a final `s` is ignored. */
function worthBelow(words, asked) {
  const term = asked.replace(/(?<=...)s$/, '');
  if (words.some(word => word.startsWith(term) || word.includes(`-${term}`)))
    return WORTH.wordStart;
  const isPart = term.length >= PART_MINIMUM && words.some(word => word.includes(term));
  return isPart ? WORTH.wordPart : 0;
}

function link({ href, heading, title, isPage }) {
  const item = document.createElement('li');
  const anchor = document.createElement('a');
  anchor.href = href;
  anchor.textContent = heading;
  if (!isPage) {
    const page = document.createElement('span');
    page.textContent = title;
    anchor.append(' ', page);
  }
  // A link to a part of this page loads no new page: nothing else would close the list.
  anchor.addEventListener('click', close);
  item.append(anchor);
  return item;
}

function tell(text) {
  status.textContent = text;
  found.classList.remove('visually-hidden');
}

function close() {
  found.classList.add('visually-hidden');
  results.replaceChildren();
  status.textContent = '';
}

function move(event) {
  const links = [...results.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement);
  if (event.key === 'Escape') {
    close();
    input.focus();
  } else if (event.key === 'ArrowDown' && links.length === 0) show();
  else if (event.key === 'ArrowDown') links[Math.min(at + 1, links.length - 1)]?.focus();
  else if (event.key === 'ArrowUp' && at !== -1) (links[at - 1] ?? input).focus();
  else if (event.key === 'Enter' && at === -1) links[0]?.click();
  else return;
  event.preventDefault();
}

/**
 * Makes pages of the panel more convenient: times in the reader's zone, copy buttons, no form sent twice, colours
 * beside their text, and updates of a pending payment. Every page works without it.
 */

/** Timeout of a refresh, in milliseconds. */
const TIMEOUT_MS = 10_000;
const COPIED_MS = 2_000;
/** Delay after the last keystroke, so that not every one requests a preview. */
const PREVIEW_MS = 500;

/** Holds the texts that the script shows, in the language of the page. */
const announcer = document.getElementById('announcer');
const { lang } = document.documentElement;
const { locale } = new Intl.DateTimeFormat().resolvedOptions();
/** The page's language, as it is written where the reader lives. */
const LOCALE = locale.split('-')[0] === lang ? locale : lang;
const TIME = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' });
const EXACT_TIME = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' });
const ZONED = {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
};
/** With its zone, for which tables have no room. */
const TIME_AND_ZONE = new Intl.DateTimeFormat(LOCALE, ZONED);
const EXACT_TIME_AND_ZONE = new Intl.DateTimeFormat(LOCALE, { ...ZONED, second: '2-digit' });

activate(document);
document.getElementById('fault')?.focus();
document.addEventListener('click', copy);
document.addEventListener('submit', refuseSecondSubmit);
document.addEventListener('submit', openPreview);
document.addEventListener('input', followColor);
document.addEventListener('input', schedulePreview);
// A page restored from the back/forward cache still has its forms marked as sent.
addEventListener('pageshow', event => {
  if (!event.persisted) return;
  for (const form of document.forms) delete form.dataset.sent;
});
scheduleRefresh();

/** Shows what needs the script, and local times. */
function activate(root) {
  for (const element of root.querySelectorAll('.copy')) element.hidden = false;
  for (const time of root.querySelectorAll('time[datetime]')) {
    const date = new Date(time.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    time.title = time.textContent;
    const [inTable, alone] =
      time.dataset.exact === undefined ? [TIME, TIME_AND_ZONE] : [EXACT_TIME, EXACT_TIME_AND_ZONE];
    time.textContent = (time.closest('table') ? inTable : alone).format(date);
  }
}

async function copy({ target }) {
  const button = target.closest?.('[data-copy]');
  if (button == null) return;
  const text = document.getElementById(button.dataset.copy)?.textContent ?? '';
  const label = button.textContent;
  const { copied, copyRefused } = announcer.dataset;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = copied;
    announcer.textContent = copied;
  } catch {
    announcer.textContent = copyRefused;
  }
  setTimeout(() => {
    button.textContent = label;
    announcer.textContent = '';
  }, COPIED_MS);
}

function refuseSecondSubmit(event) {
  // A form that opens in a frame does not leave the page, and may be sent again.
  if (event.submitter?.formTarget) return;
  if (event.target.dataset.sent !== undefined) event.preventDefault();
  else if (event.target.method === 'post') event.target.dataset.sent = '';
}

/** Makes a colour and its text follow each other. Beside a text that is no colour is the one that was there first. */
function followColor({ target }) {
  const text = document.getElementById(target.dataset.text);
  if (text !== null) text.value = target.value;
  const picker = document.querySelector(`[data-text="${target.id}"]`);
  if (picker === null) return;
  const color = target.value.trim();
  picker.value = /^#[0-9a-f]{6}$/i.test(color) ? color : picker.defaultValue;
}

/** The button whose page the preview shows. */
let previewed = document.querySelector('button[data-first]');
let previewTimer;

/**
 * Opens a preview in a new frame, which replaces the previous one once it has loaded: loading another page in the
 * same frame would add an entry to the window's history.
 */
function openPreview({ submitter }) {
  const shown = document.querySelector(`iframe[name="${submitter?.formTarget}"]`);
  if (shown === null) return;
  previewed = submitter;
  const next = shown.cloneNode();
  next.removeAttribute('src');
  next.hidden = true;
  shown.removeAttribute('name');
  // Chromium keeps a frame's name after its attribute is removed.
  shown.contentWindow.name = '';
  shown.after(next);
  next.addEventListener('load', () => {
    const top = shown.contentWindow?.scrollY;
    for (const frame of next.parentElement.querySelectorAll('iframe')) {
      if (frame !== next) frame.remove();
    }
    next.hidden = false;
    next.contentWindow.scrollTo(0, top ?? 0);
  });
}

/** Updates the preview after typing. */
function schedulePreview({ target }) {
  if (previewed === null || target.form !== previewed.form) return;
  clearTimeout(previewTimer);
  previewTimer = setTimeout(() => previewed.form.requestSubmit(previewed), PREVIEW_MS);
}

function scheduleRefresh() {
  const seconds = Number(document.getElementById('content')?.dataset.refresh);
  if (seconds > 0) setTimeout(refresh, seconds * 1_000);
}

/**
 * Loads the page again and replaces the content, unless the page is hidden or somebody is filling in a form on it.
 */
async function refresh() {
  const main = document.getElementById('content');
  const isBusy = document.visibilityState === 'hidden' || main.contains(document.activeElement);
  if (!isBusy) {
    try {
      const response = await fetch(location.href, {
        // Nobody asked for this request, so it must not keep the session open.
        headers: { 'x-panel-refresh': '1' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (response.ok && !response.redirected) {
        const page = new DOMParser().parseFromString(await response.text(), 'text/html');
        const next = page.getElementById('content');
        if (next !== null && next.outerHTML !== main.outerHTML) {
          activate(next);
          main.replaceWith(next);
        }
      }
    } catch {
      // The next round tries again.
    }
  }
  scheduleRefresh();
}

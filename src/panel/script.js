/**
 * Makes pages of the panel more convenient: times in the reader's zone, copy buttons, no second sending
 * of a form, and news of a payment that is pending. Every page works without it.
 */

/** Time limit of a request for news, in milliseconds. */
const TIMEOUT_MS = 10_000;
const COPIED_MS = 2_000;

const announcer = document.getElementById('announcer');
const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

activate(document);
document.getElementById('fault')?.focus();
document.addEventListener('click', copy);
document.addEventListener('submit', refuseSecondSubmit);
// A page that comes back from the browser's memory still has its forms marked as sent.
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
    time.textContent = TIME.format(date);
  }
}

async function copy({ target }) {
  const button = target.closest?.('[data-copy]');
  if (button == null) return;
  const text = document.getElementById(button.dataset.copy)?.textContent ?? '';
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
    announcer.textContent = 'Copied';
  } catch {
    announcer.textContent = 'Copying is not allowed here: select the text instead.';
  }
  setTimeout(() => {
    button.textContent = label;
    announcer.textContent = '';
  }, COPIED_MS);
}

function refuseSecondSubmit(event) {
  if (event.target.dataset.sent !== undefined) event.preventDefault();
  else if (event.target.method === 'post') event.target.dataset.sent = '';
}

function scheduleRefresh() {
  const seconds = Number(document.getElementById('content')?.dataset.refresh);
  if (seconds > 0) setTimeout(refresh, seconds * 1_000);
}

/** Takes over the page as it is now, unless somebody is filling in a form on it. */
async function refresh() {
  const main = document.getElementById('content');
  const isBusy = document.visibilityState === 'hidden' || main.contains(document.activeElement);
  if (!isBusy) {
    try {
      const response = await fetch(location.href, { signal: AbortSignal.timeout(TIMEOUT_MS) });
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

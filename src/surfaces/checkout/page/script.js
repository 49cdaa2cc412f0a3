/**
 * Updates a checkout page: a countdown, copy buttons, and a newer version of the page when the payment
 * changes. The page works without it, because the server renders every state.
 */

/** Interval between polls. */
const INTERVAL_MS = 2_000;
/** Interval between polls once nothing has changed for IDLE_AFTER_MS. */
const IDLE_INTERVAL_MS = 5_000;
const IDLE_AFTER_MS = 5 * 60_000;
/** Longest backoff while the service cannot be reached. */
const RETRY_MAXIMUM_MS = 30_000;
/** Timeout of a request: a phone that wakes up may use a dead connection. */
const TIMEOUT_MS = 10_000;
/** How long "Paid" is shown before the return to the merchant. */
const RETURN_SECONDS = 5;
/** Remaining seconds at which a screen reader announces the time left. */
const REMINDERS = [300, 60];

/** Texts in the language of the page; `{0}` stands for what is filled in. */
const texts = JSON.parse(document.body.dataset.texts);
const { locale } = document.body.dataset;
const inMinutes = new Intl.NumberFormat(locale, {
  style: 'unit',
  unit: 'minute',
  unitDisplay: 'long',
});
const time = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });
const dateAndTime = new Intl.DateTimeFormat(locale, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});

const connection = document.getElementById('connection');
const announcer = document.getElementById('announcer');
let main = document.getElementById('checkout');

/** The server's clock minus the browser's, in milliseconds. */
let clockOffset = 0;
let failures = 0;
let lastChange = Date.now();
let timer;
let polling = false;
let returnTimer;
/** Value of the countdown when it was last drawn. */
let secondsLeft = Number.POSITIVE_INFINITY;

if (main?.dataset.page !== undefined) {
  // A refused form leaves its own URL in the address bar. Replace it, so that a reload loads the page.
  const { page } = main.dataset;
  if (location.pathname !== page) history.replaceState(null, '', page + location.search);
  setClock(main.dataset.now);
  activate();
  if (!isFinal()) {
    setInterval(drawCountdown, 1_000);
    addEventListener('online', pollNow);
    addEventListener('offline', () => say(texts.offline));
    addEventListener('pageshow', event => event.persisted && pollNow());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') pollNow();
      else clearTimeout(timer);
    });
    schedule(INTERVAL_MS);
  }
}
document.addEventListener('submit', refuseSecondSubmit);
document.addEventListener('click', copy);
document.addEventListener('click', print);
document.addEventListener('input', search);

function isFinal() {
  return main.dataset.final !== undefined;
}

function setClock(serverTime) {
  clockOffset = Date.parse(serverTime) - Date.now();
}

/** Shows the elements that need the script, and starts the return after a payment. */
function activate() {
  for (const element of main.querySelectorAll('.copy, .live, .search, .print')) {
    element.hidden = false;
  }
  for (const element of main.querySelectorAll('.refresh')) element.hidden = true;
  showLocalTimes();
  secondsLeft = Number.POSITIVE_INFINITY;
  drawCountdown();
  if (main.dataset.stage === 'paid') startReturn();
}

/** Shows times in the reader's time zone, where the server wrote UTC. */
function showLocalTimes() {
  for (const element of main.querySelectorAll('time')) {
    const format = element.dataset.time === undefined ? dateAndTime : time;
    element.textContent = format.format(new Date(element.dateTime));
  }
}

function schedule(milliseconds) {
  clearTimeout(timer);
  if (isFinal() || document.visibilityState === 'hidden') return;
  timer = setTimeout(poll, milliseconds);
}

function pollNow() {
  schedule(0);
}

async function poll() {
  if (polling) return;
  polling = true;
  let next = INTERVAL_MS;
  try {
    const response = await get(`${main.dataset.page}/status`);
    const status = await response.json();
    setClock(status.serverTime);
    if (status.revision !== main.dataset.revision) {
      await replacePage();
      lastChange = Date.now();
    }
    failures = 0;
    say('');
    if (Date.now() - lastChange > IDLE_AFTER_MS) next = IDLE_INTERVAL_MS;
  } catch (error) {
    failures += 1;
    next = error.retryAfterMs ?? Math.min(INTERVAL_MS * 2 ** failures, RETRY_MAXIMUM_MS);
    if (!navigator.onLine) say(texts.offline);
    else if (failures > 1) say(texts.unreachable);
  } finally {
    polling = false;
    schedule(next);
  }
}

async function get(path) {
  const response = await fetch(path, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.ok) return response;
  const error = new Error(`status ${response.status}`);
  const seconds = Number(response.headers.get('retry-after'));
  if (seconds > 0) error.retryAfterMs = seconds * 1000;
  throw error;
}

/** Replaces the content with the current page. Keeps focus, open details and text that was entered. */
async function replacePage() {
  const response = await get(main.dataset.page + location.search);
  const text = await response.text();
  const newer = new DOMParser().parseFromString(text, 'text/html');
  const replacement = document.importNode(newer.getElementById('checkout'), true);
  const { activeElement: focused } = document;
  const hadFocus = main.contains(focused);
  const moved = replacement.dataset.stage !== main.dataset.stage;
  const { announcement } = main.dataset;

  for (const { id } of main.querySelectorAll('details[open]')) {
    const same = replacement.querySelector(`#${id}`);
    if (same !== null) same.open = true;
  }
  for (const { id, value } of main.querySelectorAll('input[id]')) {
    const same = replacement.querySelector(`#${id}`);
    if (same !== null) same.value = value;
  }
  main.replaceWith(replacement);
  main = replacement;
  for (const input of main.querySelectorAll('input[type=search]')) filter(input);
  document.title = newer.title;
  activate();

  if (hadFocus) {
    const same = focused.id === '' ? null : document.getElementById(focused.id);
    (same ?? document.getElementById('title')).focus({ preventScroll: true });
  }
  if (moved) scrollTo({ top: 0 });
  // Each new block changes the page; screen readers are not interrupted for that.
  if (moved || main.dataset.announcement !== announcement) announce(main.dataset.announcement);
}

function drawCountdown() {
  const element = main.querySelector('[data-countdown]');
  if (element === null) return;
  const remaining = Date.parse(element.dataset.countdown) - (Date.now() + clockOffset);
  const seconds = Math.max(0, Math.ceil(remaining / 1000));
  if (seconds === secondsLeft) return;
  const left = element.dataset.to === 'choose' ? texts.leftToChoose : texts.leftToPay;
  element.textContent = seconds > 0 ? fill(left, formatSeconds(seconds)) : texts.timeIsUp;
  element.classList.toggle('soon', seconds <= 60);
  for (const reminder of REMINDERS) {
    if (secondsLeft > reminder && seconds <= reminder && Number.isFinite(secondsLeft)) {
      announce(fill(left, inMinutes.format(reminder / 60)));
    }
  }
  if (seconds === 0 && secondsLeft > 0) pollNow();
  secondsLeft = seconds;
}

function fill(text, value) {
  return text.replace('{0}', () => value);
}

function formatSeconds(seconds) {
  const two = number => String(number).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
}

/** Counts down to the return, only once: a customer who comes back to the page stays on it. */
function startReturn() {
  const link = main.querySelector('#return[data-automatic]');
  const note = main.querySelector('.returning');
  const mark = `returned ${main.dataset.page}`;
  if (link === null || note === null || returnTimer !== undefined) return;
  if (remembers(mark)) return;
  const shown = note.querySelector('.seconds');
  let seconds = RETURN_SECONDS;
  shown.textContent = String(seconds);
  note.hidden = false;
  note.querySelector('#stay').addEventListener('click', () => {
    clearInterval(returnTimer);
    note.hidden = true;
    link.focus();
  });
  returnTimer = setInterval(() => {
    seconds -= 1;
    shown.textContent = String(seconds);
    if (seconds > 0) return;
    clearInterval(returnTimer);
    remember(mark);
    location.assign(link.href);
  }, 1_000);
}

// Storage may be disabled; then nothing is remembered.
function remembers(mark) {
  try {
    return sessionStorage.getItem(mark) !== null;
  } catch {
    return false;
  }
}

function remember(mark) {
  try {
    sessionStorage.setItem(mark, '1');
  } catch {}
}

async function copy(event) {
  const button = event.target.closest('[data-copy]');
  if (button === null) return;
  const { copy: text } = button.dataset;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a clipboard, for example over plain HTTP, select the text to copy it by hand.
    const shown = button.parentElement.querySelector('.text');
    // In the form that wallets accept, whatever the language of the page.
    if (shown.id === 'amount') shown.textContent = text;
    getSelection().selectAllChildren(shown);
    announce(texts.pressCopy);
    return;
  }
  const { textContent: before, ariaLabel } = button;
  announce(texts.copied);
  if (before === texts.copied) return;
  button.textContent = texts.copied;
  // The accessible name must contain the visible text.
  button.ariaLabel = null;
  setTimeout(() => {
    Object.assign(button, { textContent: before, ariaLabel });
  }, 2_000);
}

function print(event) {
  if (event.target.closest('#print') !== null) globalThis.print();
}

function search(event) {
  if (event.target.type === 'search') filter(event.target);
}

/** Hides the networks whose names lack one of the words. */
function filter(input) {
  const picker = input.closest('.picker');
  const words = input.value.toLowerCase().split(/\s+/);
  for (const group of picker.querySelectorAll('.coin-group')) {
    let found = false;
    for (const button of group.querySelectorAll('.network')) {
      const names = `${button.querySelector('.where').textContent} ${button.value}`.toLowerCase();
      const matches = words.every(word => names.includes(word));
      button.parentElement.hidden = !matches;
      found ||= matches;
    }
    group.hidden = !found;
  }
  const first = picker.querySelector('.coin-group:not([hidden])');
  picker.querySelector('.no-match').hidden = first !== null;
}

function refuseSecondSubmit(event) {
  const { target: form } = event;
  if (form.dataset.sent !== undefined) event.preventDefault();
  form.dataset.sent = '';
  // If the page is still open by then, its forms work again.
  setTimeout(() => delete form.dataset.sent, 5_000);
}

/** Shows the state of the connection; empty text when it works. */
function say(text) {
  if (connection.textContent !== text) connection.textContent = text;
}

function announce(text) {
  announcer.textContent = text;
}

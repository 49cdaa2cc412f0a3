/**
 * Makes a checkout page live: a countdown, buttons that copy, and the page of a newer state as soon as
 * there is one. Everything else works without it; the server renders every state.
 */

/** How often to ask, in milliseconds. */
const INTERVAL_MS = 2_000;
/** How often after some minutes without news. */
const IDLE_INTERVAL_MS = 5_000;
const IDLE_AFTER_MS = 5 * 60_000;
/** Longest wait between two attempts while the service cannot be reached. */
const RETRY_MAXIMUM_MS = 30_000;
/** Longest an answer may take: a phone that wakes up may hold a dead connection. */
const TIMEOUT_MS = 10_000;
/** How long "Paid" is shown before the way back is taken. */
const RETURN_SECONDS = 5;
/** When the time left is said aloud, in seconds. */
const REMINDERS = [300, 60];

const connection = document.getElementById('connection');
const announcer = document.getElementById('announcer');
let main = document.getElementById('checkout');

/** The service's clock minus ours. */
let clockOffset = 0;
let failures = 0;
let lastNews = Date.now();
let timer;
let asking = false;
let returnTimer;
/** Seconds left when the countdown was last drawn. */
let secondsLeft = Number.POSITIVE_INFINITY;

if (main?.dataset.page !== undefined) {
  // The page of a form's refusal has the form's address, which is not to be loaded again.
  const { page } = main.dataset;
  if (location.pathname !== page) history.replaceState(null, '', page);
  setClock(main.dataset.now);
  bringToLife();
  if (!isFinal()) {
    setInterval(drawCountdown, 1_000);
    addEventListener('online', askNow);
    addEventListener('offline', () => say('You are offline. This page goes on when you are back.'));
    addEventListener('pageshow', event => event.persisted && askNow());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') askNow();
      else clearTimeout(timer);
    });
    schedule(INTERVAL_MS);
  }
}
document.addEventListener('submit', refuseSecondSubmit);
document.addEventListener('click', copy);

function isFinal() {
  return main.dataset.final !== undefined;
}

function setClock(serverTime) {
  clockOffset = Date.parse(serverTime) - Date.now();
}

/** Shows what only works with a script, and takes the way back after a payment. */
function bringToLife() {
  for (const element of main.querySelectorAll('.copy, .live')) element.hidden = false;
  for (const element of main.querySelectorAll('.refresh')) element.hidden = true;
  secondsLeft = Number.POSITIVE_INFINITY;
  drawCountdown();
  if (main.dataset.stage === 'paid') startReturn();
}

function schedule(milliseconds) {
  clearTimeout(timer);
  if (isFinal() || document.visibilityState === 'hidden') return;
  timer = setTimeout(ask, milliseconds);
}

function askNow() {
  schedule(0);
}

async function ask() {
  if (asking) return;
  asking = true;
  let next = INTERVAL_MS;
  try {
    const response = await get(`${main.dataset.page}/status`);
    const status = await response.json();
    setClock(status.serverTime);
    if (status.revision !== main.dataset.revision) {
      await showNewer();
      lastNews = Date.now();
    }
    failures = 0;
    say('');
    if (Date.now() - lastNews > IDLE_AFTER_MS) next = IDLE_INTERVAL_MS;
  } catch (error) {
    failures += 1;
    next = error.retryAfterMs ?? Math.min(INTERVAL_MS * 2 ** failures, RETRY_MAXIMUM_MS);
    if (!navigator.onLine) say('You are offline. This page goes on when you are back.');
    else if (failures > 1) say('The payment service cannot be reached. Trying again…');
  } finally {
    asking = false;
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

/** Replaces what is shown by the page as it is now, without losing the reader's place. */
async function showNewer() {
  const response = await get(main.dataset.page + location.search);
  const text = await response.text();
  const newer = new DOMParser().parseFromString(text, 'text/html');
  const replacement = document.importNode(newer.getElementById('checkout'), true);
  const { activeElement: focused } = document;
  const hadFocus = main.contains(focused);
  const moved = replacement.dataset.stage !== main.dataset.stage;

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
  document.title = newer.title;
  bringToLife();

  if (hadFocus) {
    const same = focused.id === '' ? null : document.getElementById(focused.id);
    (same ?? document.getElementById('title')).focus({ preventScroll: true });
  }
  if (moved) scrollTo({ top: 0 });
  announce(main.dataset.announcement);
}

function drawCountdown() {
  const element = main.querySelector('[data-countdown]');
  if (element === null) return;
  const left = Date.parse(element.dataset.countdown) - (Date.now() + clockOffset);
  const seconds = Math.max(0, Math.ceil(left / 1000));
  if (seconds === secondsLeft) return;
  element.textContent = seconds > 0 ? `${formatSeconds(seconds)} left to pay` : 'Time is up';
  element.classList.toggle('soon', seconds <= 60);
  for (const reminder of REMINDERS) {
    if (secondsLeft > reminder && seconds <= reminder && Number.isFinite(secondsLeft)) {
      announce(`${reminder / 60} ${reminder > 60 ? 'minutes' : 'minute'} left to pay.`);
    }
  }
  if (seconds === 0 && secondsLeft > 0) askNow();
  secondsLeft = seconds;
}

function formatSeconds(seconds) {
  const two = number => String(number).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
}

/** Counts down to the way back: once, so that whoever comes back to look is not sent away again. */
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

// Storage may be switched off; then nothing is remembered.
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
  const { copy: text, what } = button.dataset;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a clipboard, for example over plain HTTP: what is selected can be copied by hand.
    const shown = button.parentElement.querySelector('.text');
    getSelection().selectAllChildren(shown);
    announce(`Press the copy keys to copy the ${what}.`);
    return;
  }
  const label = button.firstChild;
  label.textContent = 'Copied';
  announce(`Copied the ${what}.`);
  setTimeout(() => {
    label.textContent = 'Copy';
  }, 2_000);
}

function refuseSecondSubmit(event) {
  const { target: form } = event;
  if (form.dataset.sent !== undefined) event.preventDefault();
  form.dataset.sent = '';
  // A page that was not left after all can be used again.
  setTimeout(() => delete form.dataset.sent, 5_000);
}

/** Says how the connection is; an empty text when it is well. */
function say(text) {
  if (connection.textContent !== text) connection.textContent = text;
}

function announce(text) {
  announcer.textContent = text;
}

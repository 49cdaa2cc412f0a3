/**
 * Counts down to the end of a payment, and loads the page again then. Without this script, the page shows the time of
 * the deadline.
 */

const element = document.querySelector('[data-countdown]');

if (element !== null) {
  const { countdown, now, left: text } = element.dataset;
  /** The server's clock minus the browser's, in milliseconds. */
  const clockOffset = Date.parse(now) - Date.now();
  const draw = () => {
    const left = Date.parse(countdown) - (Date.now() + clockOffset);
    const seconds = Math.max(0, Math.ceil(left / 1000));
    const [minutes, rest] = [Math.floor(seconds / 60), String(seconds % 60).padStart(2, '0')];
    element.textContent = text.replace('{0}', `${minutes}:${rest}`);
    if (seconds > 0) return;
    clearInterval(timer);
    location.reload();
  };
  const timer = setInterval(draw, 1_000);
  draw();
}

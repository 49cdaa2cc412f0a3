/** Adds a button to every block of code that copies it. */

/** How long the outcome is shown. */
const SHOWN_MS = 2_000;

const announcer = document.createElement('p');
announcer.className = 'visually-hidden';
announcer.setAttribute('role', 'status');
document.body.append(announcer);

for (const block of document.querySelectorAll('main pre')) {
  const frame = document.createElement('div');
  frame.className = 'code';
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', () => copy(block, button));
  block.replaceWith(frame);
  frame.append(block, button);
}

async function copy(block, button) {
  try {
    await navigator.clipboard.writeText(block.textContent);
    tell(button, 'Copied', 'Copied the code.');
  } catch {
    // Without a clipboard, for example over plain HTTP, select the code to copy it by hand.
    getSelection().selectAllChildren(block);
    tell(button, 'Selected', 'The code is selected: press the copy keys.');
  }
}

function tell(button, label, announcement) {
  button.textContent = label;
  announcer.textContent = announcement;
  clearTimeout(button.dataset.timer);
  button.dataset.timer = setTimeout(() => {
    button.textContent = 'Copy';
    announcer.textContent = '';
  }, SHOWN_MS);
}

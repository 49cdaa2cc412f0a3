/** A process or a command cannot work as it is configured. Only the message is shown; it says why, and what to do. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
}

/** A process or a command cannot work as it is set up. The message says why and what to do, and is all that is shown. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
}

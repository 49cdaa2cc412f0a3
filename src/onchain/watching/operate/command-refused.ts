/** A command about chains, networks and nodes is refused. Only operators see the message, in `mp`, so it is in English. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
}

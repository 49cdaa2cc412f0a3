import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/**
 * Connections that bring nothing more until the time that their clients were told to wait is over:
 * what arrives meanwhile stays with the kernel, unread.
 *
 * To refuse a request takes a good part of what it takes to create a payment. Clients that ignore
 * Retry-After come back at once, and to answer them again and again would leave little time for what
 * is let in. Those that open a connection for each request, or send the next before they have the
 * answer, are not slowed down by this.
 */
export interface HeldConnections {
  /**
   * Holds the connection of a request that is refused, once its answer is written.
   * @returns What to tell the client to wait, in seconds.
   */
  hold(response: ServerResponse): number;
  /** Goes on with the connection that has been held for longest, if any is. */
  releaseOldest(): void;
}

/**
 * Connections that may come back in a second, unless told otherwise: the more are held, the longer.
 * Chosen, not measured: fewer than a process can answer.
 */
export const RETURNS_PER_SECOND = 1_000;
/**
 * Longest that a connection is held, in seconds: over a proxy's, requests of others wait with it. To
 * 3,000 connections that come back at once, a bound of 2 s left a third of the peak of creations, and
 * one of 5 s at least four fifths.
 */
export const LONGEST_HOLD_SECONDS = 5;
/** Connections held at most: each takes a file descriptor, though its client may be gone. */
const HELD_MAXIMUM = 10_000;

interface Hold {
  readonly seconds: number;
  /** Ends the hold; null before it has begun. */
  timer: NodeJS.Timeout | null;
}

interface HoldLimits {
  /** Connections that may come back in a second. */
  readonly returnsPerSecond?: number;
  /** Connections held at most. */
  readonly most?: number;
}

export function createHeldConnections({
  returnsPerSecond = RETURNS_PER_SECOND,
  most = HELD_MAXIMUM,
}: HoldLimits = {}): HeldConnections {
  /** In the order of their refusals. One whose client is gone stays: unread, it does not say so. */
  const held = new Map<Socket, Hold>();

  function release(socket: Socket): void {
    const timer = held.get(socket)?.timer;
    if (timer) clearTimeout(timer);
    held.delete(socket);
    socket.resume();
  }

  function begin(socket: Socket, hold: Hold): void {
    // It may have been released by now.
    if (held.get(socket) !== hold) return;
    if (socket.writableEnded) {
      held.delete(socket);
      return;
    }
    socket.pause();
    hold.timer = setTimeout(release, hold.seconds * 1000, socket).unref();
  }

  return {
    hold(response) {
      // Unlike the response's own, it is there for one that waits for the answers before it.
      const { socket } = response.req;
      const wait = Math.ceil((held.size + 1) / returnsPerSecond);
      const seconds = Math.min(wait, LONGEST_HOLD_SECONDS);
      // A request that does not come from the network has none.
      if (!(socket instanceof Socket) || held.size >= most) return seconds;
      const present = held.get(socket);
      if (present !== undefined) return present.seconds;
      const hold = { seconds, timer: null };
      held.set(socket, hold);
      // After the close of its answer Node reads what is left of the request, and so resumes once more.
      response.once('close', () => setImmediate(begin, socket, hold));
      return seconds;
    },
    releaseOldest() {
      const [oldest] = held.keys();
      if (oldest !== undefined) release(oldest);
    },
  };
}

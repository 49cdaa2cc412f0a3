/** The newest block that a node has reported. */
interface Head {
  readonly height: number;
  /** The greatest height that it ever reported: servers behind one address may differ. */
  readonly peak: number;
  /** When the peak last rose, and when a height was last reported; in milliseconds since the Unix epoch. */
  readonly raisedAt: number;
  readonly reportedAt: number;
}

/** The heads of a chain's nodes, to notice nodes that are behind. */
export interface HeadHistory {
  record(node: string, height: number, now: number): void;
  headOf(node: string): Head | undefined;
  /**
   * Whether a height is implausible: above what blocks made since the newest known height allow, or further below
   * the node's own last height than its servers lag behind one another.
   */
  isFar(node: string, height: number, now: number): boolean;
  /** Whether the node's head stood still for too long, or is below a height that the chain had so long ago. */
  isStale(node: string): boolean;
  forget(node: string): void;
}

/** More marks than come within twice the longest `staleMs`, at one per 10 s. */
const MARKS_MAXIMUM = 2_500;

/** How many blocks a head may be above or below the expected one: some come fast, and servers lag a little. */
export const HEAD_LEEWAY = 10;

interface HeadTimes {
  /** How long a head may stand still, or be behind, in milliseconds. */
  readonly staleMs: number;
  /** Time between two blocks when they come fast, in milliseconds. */
  readonly blockMs: number;
}

export function createHeadHistory({ staleMs, blockMs }: HeadTimes): HeadHistory {
  const heads = new Map<string, Head>();
  /** When the chain was first seen at each height, oldest first. */
  let marks: { readonly height: number; readonly at: number }[] = [];

  function mark(height: number, now: number): void {
    const newest = marks.at(-1);
    if (newest !== undefined && newest.height >= height) return;
    marks.push({ height, at: now });
    // The newest mark from before the span says where the chain was when it began.
    const first = marks.findLastIndex(({ at }) => at <= now - 2 * staleMs);
    if (first > 0) marks = marks.slice(first);
    if (marks.length > MARKS_MAXIMUM) marks = marks.slice(-MARKS_MAXIMUM);
  }

  return {
    record(node, height, now) {
      const before = heads.get(node);
      const isNewPeak = before === undefined || height > before.peak;
      const peak = isNewPeak ? height : before.peak;
      heads.set(node, {
        height,
        peak,
        raisedAt: isNewPeak ? now : before.raisedAt,
        reportedAt: now,
      });
      mark(height, now);
    },
    headOf: node => heads.get(node),
    isFar(node, height, now) {
      const newest = marks.at(-1);
      if (newest === undefined) return true;
      const made = Math.abs(now - newest.at) / blockMs;
      const own = heads.get(node)?.height ?? height;
      return height > newest.height + made + HEAD_LEEWAY || height < own - HEAD_LEEWAY;
    },
    isStale(node) {
      const head = heads.get(node);
      if (head === undefined) return false;
      const { height, raisedAt, reportedAt } = head;
      if (reportedAt - raisedAt > staleMs) return true;
      const passed = marks.findLast(({ at }) => at <= reportedAt - staleMs);
      return passed !== undefined && height < passed.height;
    },
    forget(node) {
      heads.delete(node);
      // The heights that it reported may have been another chain's.
      marks = [];
    },
  };
}

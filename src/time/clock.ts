/** Milliseconds since the Unix epoch; `Date.now` outside tests. */
export type Clock = () => number;

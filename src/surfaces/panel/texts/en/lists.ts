/** Lists with their filters and pages, and charts. */
export const lists = {
  total: (count: string) => `${count} in all`,
  /** What was counted up to a bound. */
  moreThan: (count: string) => `more than ${count}`,
  download: 'Download as CSV',
  /** What a file of a list leaves out. */
  file: {
    begins: (day: string, days: number) =>
      `The file begins on ${day} (UTC): it has at most ${days} days.`,
    tooManyDays: (days: number) =>
      `A file has at most ${days} days. Filter by fewer to download one.`,
  },

  filters: {
    submit: 'Filter',
    clear: 'Clear filters',
    /** The choice that filters nothing. */
    any: 'Any',
    from: 'From (UTC day)',
    to: 'To (UTC day)',
    search: 'Search',
    daysReversed: (from: string, to: string) => `From, ${from}, is after To, ${to}.`,
  },

  pages: {
    title: 'Pages',
    newest: 'Newest',
    newer: 'Newer',
    older: 'Older',
    next: 'More',
    /** On a page beyond the last. */
    noneFurther: 'There are none further.',
    first: 'To the first page',
  },

  chart: {
    label: (title: string, total: string, first: string, last: string) =>
      `${title}: ${total} from ${first} to ${last}`,
    nothing: (first: string, last: string) => `Nothing from ${first} to ${last}.`,
    day: (day: string, volume: string, payments: number) => `${day}: ${volume}, ${payments}`,
    highest: (volume: string) => `highest day ${volume}`,
    table: 'As a table',
    columns: { day: 'Day (UTC)', payments: 'Payments', volume: 'Volume' },
  },
};

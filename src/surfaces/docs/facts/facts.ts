/** Text for the placeholders of the guides, by name. */
export type Facts = Readonly<Record<string, string | number>>;

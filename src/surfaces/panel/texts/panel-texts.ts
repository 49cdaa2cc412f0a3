import type { en } from './en/index.ts';

/** A catalogue with any text in place of each of its own. Functions keep their parameters. */
type InAnyLanguage<T> = T extends string
  ? string
  : T extends (...values: infer Values) => infer Text
    ? (...values: Values) => InAnyLanguage<Text>
    : { [Key in keyof T]: InAnyLanguage<T[Key]> };

/** The panel's texts. Other languages follow English: a text that one of them lacks or adds does not compile. */
export type PanelTexts = InAnyLanguage<typeof en>;

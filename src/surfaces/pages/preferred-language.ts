import Negotiator from 'negotiator';

/**
 * The language that a browser prefers; undefined where it prefers none of them.
 * @param acceptLanguage The header `Accept-Language`.
 * @param languages BCP 47 tags.
 */
export function preferredLanguage<T extends string>(
  acceptLanguage: string | undefined,
  languages: readonly T[],
): T | undefined {
  const tag = negotiate(acceptLanguage).language([...languages]);
  return languages.find(each => each === tag);
}

/** Reads the header `Accept-Language`. */
export function negotiate(acceptLanguage: string | undefined): Negotiator {
  return new Negotiator({ headers: { 'accept-language': acceptLanguage } });
}

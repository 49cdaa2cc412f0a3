/** What a node answers, by one that writes digits as capitals; as `NodeProxy.alter` takes it. */
export const inCapitals = (_method: string, _params: unknown, result: unknown): unknown =>
  JSON.parse(JSON.stringify(result).replace(/(?<="0x)[0-9a-f]+/g, hex => hex.toUpperCase()));

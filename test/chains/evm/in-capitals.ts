/** Responses of a node that writes hex digits as capitals, for `NodeProxy.alter`. */
export const inCapitals = (_method: string, _params: unknown, result: unknown): unknown =>
  JSON.parse(JSON.stringify(result).replace(/(?<="0x)[0-9a-f]+/g, hex => hex.toUpperCase()));

/** What one unit of an asset was worth at a moment. */
export interface Rate {
  /** The asset, as in `networks.asset_symbol`; never a test asset. */
  readonly symbol: string;
  /** US dollars for one whole unit, as an integer scaled by 1e18. */
  readonly price: bigint;
  /** When that was true, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** One independent market. */
export interface RateSource {
  /** How logs and reasons call it. */
  readonly name: string;
  lists(symbol: string): boolean;
  /**
   * Asks for the rate now.
   * @param signal Ends the request: the caller decides how long a rate is worth waiting for.
   * @throws RateUnavailable
   */
  fetchRate(symbol: string, signal: AbortSignal): Promise<Rate>;
}

/** What quotes ask. */
export interface Rates {
  /**
   * US dollars for one whole unit of an asset, as an integer scaled by 1e18. Test assets cost what
   * the real ones cost.
   * @throws RateUnavailable when there is no price to quote with now.
   */
  usdPrice(assetSymbol: string): Promise<bigint>;
}

/** There is no rate now; trying again in some seconds may help. */
export class RateUnavailable extends Error {
  readonly symbol: string;
  readonly reason: string;

  /** @param reason For logs, in the service's own words: never what a source has sent. */
  constructor(symbol: string, reason: string, options?: ErrorOptions) {
    super(`No rate for ${symbol}: ${reason}`, options);
    this.name = 'RateUnavailable';
    this.symbol = symbol;
    this.reason = reason;
  }
}

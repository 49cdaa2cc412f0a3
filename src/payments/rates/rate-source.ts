import type { RateReadings } from '#telemetry/rate-gauges.ts';

/** Price of an asset at a point in time. */
export interface Rate {
  /** The asset, as in `networks.asset_symbol`; never a test asset. */
  readonly symbol: string;
  /** US dollars for one whole unit, as an integer scaled by 1e18. */
  readonly price: bigint;
  /** Time of the price, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** One independent market. */
export interface RateSource {
  /** Used in logs and in the reasons of RateUnavailable. */
  readonly name: string;
  lists(symbol: string): boolean;
  /**
   * @param signal Cancels the request; the caller sets the timeout.
   * @throws RateUnavailable
   */
  fetchRate(symbol: string, signal: AbortSignal): Promise<Rate>;
}

/** The prices that quotes are made with. */
export interface Rates {
  /**
   * US dollars for one whole unit of an asset, as an integer scaled by 1e18. Test assets have the
   * price of the real ones.
   * @throws RateUnavailable
   */
  usdPrice(assetSymbol: string): Promise<bigint>;
  /**
   * Prices and sources of the last minutes, for metrics. Assets that could not be priced are asked for again, so
   * that the end of an outage shows even if no payer asks for a quote. Fixed rates have none.
   */
  observe?(): Promise<RateReadings>;
}

/** There is no usable rate now; a retry some seconds later may succeed. */
export class RateUnavailable extends Error {
  override name = 'RateUnavailable';
  readonly symbol: string;
  readonly reason: string;

  /** @param reason For logs; never contains text received from a source. */
  constructor(symbol: string, reason: string, options?: ErrorOptions) {
    super(`No rate for ${symbol}: ${reason}`, options);
    this.symbol = symbol;
    this.reason = reason;
  }
}

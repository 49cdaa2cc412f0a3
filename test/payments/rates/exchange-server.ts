import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { SourceUrls } from '#payments/rates/open-rates.ts';

export type Exchange = keyof SourceUrls;

export interface Ticker {
  /** Text, unless a test needs a number to be refused. */
  readonly price: unknown;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

type Handler = (response: ServerResponse) => void;

/** Four exchanges on a local port, each responding in its own format. */
export interface ExchangeServer {
  readonly urls: SourceUrls;
  /** Requests so far, oldest first, as in `kraken /0/public/Ticker?pair=XBTUSD`. */
  readonly requests: string[];
  /** Lists a market by the exchange's own name for it. */
  list(exchange: Exchange, market: string, ticker: () => Ticker): void;
  /** Handles all requests to this exchange; undefined restores its tickers. */
  misbehave(exchange: Exchange, handler: Handler | undefined): void;
  close(): Promise<void>;
}

interface Form {
  readonly path: RegExp;
  render(market: string, ticker: Ticker): unknown;
}

/** From the exchanges' documentation, shortened. */
const FORMS: Readonly<Record<Exchange, Form>> = {
  coinbase: {
    path: /^\/products\/([A-Z]+-USD)\/ticker$/,
    render: (_market, { price, at }) => ({
      ask: '1.02',
      bid: '1.01',
      volume: '1036.46',
      trade_id: 86326522,
      price,
      size: '0.1',
      time: new Date(at).toISOString().replace('Z', '456Z'),
    }),
  },
  kraken: {
    path: /^\/0\/public\/Ticker\?pair=([A-Z]+)$/,
    render: (market, { price }) => ({
      error: [],
      result: {
        [market === 'XBTUSD' ? 'XXBTZUSD' : market]: {
          a: ['30300.10000', '1', '1.000'],
          b: ['30300.00000', '1', '1.000'],
          c: [price, '0.00067643'],
          t: [34619, 38907],
          o: '30502.80000',
        },
      },
    }),
  },
  bitstamp: {
    path: /^\/api\/v2\/ticker\/([a-z]+)\/$/,
    render: (_market, { price, at }) => ({
      timestamp: String(Math.floor(at / 1000)),
      open: '1.00083',
      last: price,
      volume: '949324.40769',
      bid: '1.00005',
      ask: '1.00031',
    }),
  },
  okx: {
    path: /^\/api\/v5\/market\/ticker\?instId=([A-Z]+-USDT)$/,
    render: (market, { price, at }) => ({
      code: '0',
      msg: '',
      data: [{ instType: 'SPOT', instId: market, last: price, lastSz: '0.1', ts: String(at) }],
    }),
  },
};

export async function startExchanges(): Promise<ExchangeServer> {
  const tickers = new Map<string, () => Ticker>();
  const handlers = new Map<Exchange, Handler>();
  const requests: string[] = [];

  const server = createServer((request, response) => {
    const [, name = '', ...rest] = (request.url ?? '').split('/');
    const exchange = name as Exchange;
    const path = `/${rest.join('/')}`;
    requests.push(`${exchange} ${path}`);
    const handler = handlers.get(exchange);
    if (handler !== undefined) return handler(response);
    // As Coinbase does.
    if (!request.headers['user-agent']) return reply(response, 400, { message: 'User-Agent' });
    const market = FORMS[exchange].path.exec(path)?.[1] ?? '';
    const ticker = tickers.get(`${exchange} ${market}`);
    if (ticker === undefined) return reply(response, 404, { message: 'NotFound' });
    reply(response, 200, FORMS[exchange].render(market, ticker()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = `http://127.0.0.1:${address.port}`;

  return {
    urls: {
      coinbase: `${url}/coinbase`,
      kraken: `${url}/kraken`,
      bitstamp: `${url}/bitstamp`,
      okx: `${url}/okx`,
    },
    requests,
    list: (exchange, market, ticker) => void tickers.set(`${exchange} ${market}`, ticker),
    misbehave(exchange, handler) {
      if (handler === undefined) handlers.delete(exchange);
      else handlers.set(exchange, handler);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Responds with JSON; text is sent as it is. */
export function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

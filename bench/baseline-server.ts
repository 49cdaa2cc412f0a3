/**
 * The baseline of reads: bare Fastify with the service's paths and response schemas. It checks
 * nothing. Without DATABASE_URL it does no I/O; with it, each request runs one named statement on one
 * pipelined connection.
 */
import type { IncomingHttpHeaders } from 'node:http';
import Fastify from 'fastify';
import pg from 'pg';
import { toPaymentObject } from '#payments/payment-object.ts';
import { type ListPaymentsQuery, PaymentListSchema } from '#schemas/list-payments.ts';
import { type PaymentObject, PaymentSchema } from '#schemas/payment.ts';
import type { ShownPayment } from '#storage/repositories/payments/merchant-payments.ts';
import { SELECT_BEHIND_CURSOR, SELECT_BY_ID, SELECT_FIRST_PAGE } from './statements.ts';
import { PAGE } from './traffic.ts';

const PATH = '/external/v1/payments';
const { DATABASE_URL: url, PORT: port } = process.env;
/** Merchants by key ID. */
const merchants: Record<string, string> = JSON.parse(process.env.BENCH_MERCHANTS ?? '{}');

/** About 900 bytes of JSON. */
const PAYMENT: PaymentObject = {
  object: 'payment_prompt',
  id: '',
  amount: 4_950,
  commissionAmount: 0,
  commissionPayer: 'merchant',
  settlementModel: 'direct',
  status: 'successful',
  sessionStatus: 'completed',
  blockchainId: 'eth-usdc',
  tokenAmount: '49.5',
  transactionHash: `0x${'5f'.repeat(32)}`,
  paidAt: '2026-05-17T12:03:00.000Z',
  expiresAt: '2026-05-17T12:30:00.000Z',
  createdAt: '2026-05-17T12:00:00.000Z',
  redirectUrl: `https://shop.example/orders/${'0123456789'.repeat(24)}`,
  customerReferenceId: 'ORD-2026-0000000001',
  cancellationReason: null,
  lastError: null,
};

const merchantOf = (headers: IncomingHttpHeaders) =>
  merchants[String(headers['x-mp-key-id'])] ?? '';

const app = Fastify();
app.get('/readyz', async () => ({ status: 'ok' }));
if (url === undefined) {
  app.get<{ Params: { id: string } }>(
    `${PATH}/:id`,
    { schema: { response: { 200: PaymentSchema } } },
    async ({ params }) => ({ ...PAYMENT, id: params.id }),
  );
} else {
  const client = new pg.Client({ connectionString: url, pipeline: true });
  // The service reads bigints as numbers too.
  pg.types.setTypeParser(pg.types.builtins.INT8, Number);
  await client.connect();
  const select = async (statement: { name: string; text: string }, values: unknown[]) => {
    const { rows } = await client.query<ShownPayment>({ ...statement, values });
    return rows;
  };
  app.get<{ Params: { id: string } }>(
    `${PATH}/:id`,
    { schema: { response: { 200: PaymentSchema } } },
    async ({ headers, params }) => {
      const merchantId = merchantOf(headers);
      const values = SELECT_BY_ID.bind({ id: params.id, merchantId });
      const [payment] = await select(SELECT_BY_ID, values);
      if (payment === undefined) throw new Error('there is no such payment');
      return toPaymentObject(payment);
    },
  );
  app.get<{ Querystring: ListPaymentsQuery }>(
    PATH,
    { schema: { response: { 200: PaymentListSchema } } },
    async ({ headers, query }) => {
      const cursorId = query.startingAfter;
      const statement = cursorId === undefined ? SELECT_FIRST_PAGE : SELECT_BEHIND_CURSOR;
      const values = { merchantId: merchantOf(headers), cursorId, limit: PAGE + 1 };
      const rows = await select(statement, statement.bind(values));
      const data = rows.slice(0, PAGE).map(toPaymentObject);
      return { object: 'list', data, hasMore: rows.length > PAGE };
    },
  );
}
await app.listen({ host: '127.0.0.1', port: Number(port) });
process.once('SIGTERM', () => process.exit(0));

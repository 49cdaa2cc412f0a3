import { readFile } from 'node:fs/promises';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOGO_BYTES_MAXIMUM } from '#accounts/logo.ts';
import { requireMerchant, setMerchant } from '#accounts/merchants.ts';
import { InvalidAddress, parseAddress } from '#chains/address.ts';
import { findMerchantLogo } from '#storage/repositories/accounts/merchant-logos.ts';
import { BASE_STYLE } from '#surfaces/pages/assets.ts';
import { EXAMPLE_ADDRESS, EXAMPLE_STAGES } from '#surfaces/panel/appearance/example.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addShop,
  codeAt,
  follow,
  HOST,
  open,
  submit,
  textOf,
  type Visitor,
} from '../../helpers/panel.ts';

/** 8 × 8 pixels, written by libwebp. */
const LOGO = Buffer.from('UklGRhwAAABXRUJQVlA4TBAAAAAvB8ABAAdQwChg/wMR0f8A', 'base64');
/** Bytes of a file that no form takes. */
const TOO_LARGE = 8 * LOGO_BYTES_MAXIMUM;
const EMPTY = { support: '', accent: '' };

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

async function openShop(options: Parameters<typeof addShop>[2] = {}) {
  const shop = await addShop(service, '/settings/appearance', { name: 'Blue Coffee', ...options });
  return { ...shop, read: () => requireMerchant(service.db, shop.merchant.id) };
}

/** Sends a form with a file, as a browser does. */
async function upload(
  url: string,
  fields: Readonly<Record<string, string>>,
  logo: Buffer | undefined,
  visitor: Visitor,
): Promise<LightMyRequestResponse> {
  // If no file is chosen, browsers send one without name and content.
  const file = new File(logo === undefined ? [] : [Uint8Array.from(logo)], logo ? 'l.png' : '');
  return send(url, { ...fields, logo: file }, visitor);
}

/** Sends a form of the encoding for files. */
async function send(
  url: string,
  fields: Readonly<Record<string, string | File>>,
  { cookie }: Visitor,
): Promise<LightMyRequestResponse> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  const request = new Response(form);
  return service.app.inject({
    method: 'POST',
    url,
    headers: {
      host: HOST,
      cookie,
      'sec-fetch-site': 'same-origin',
      'content-type': request.headers.get('content-type') ?? '',
    },
    payload: Buffer.from(await request.arrayBuffer()),
  });
}

/** The hidden fields of a page's form. */
function hiddenIn({ body }: LightMyRequestResponse): Record<string, string> {
  const [, form = ''] = /<form[^>]*class="stack"[^>]*>([\s\S]*?)<\/form>/.exec(body) ?? [];
  const fields = form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g);
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]));
}

/** The logo with a further chunk of pixels, which browsers ignore, up to the most bytes. */
function largest(): Buffer {
  const chunk = Buffer.alloc(LOGO_BYTES_MAXIMUM - LOGO.length, 7);
  chunk.write('VP8L');
  chunk.writeUInt32LE(chunk.length - 8, 4);
  const image = Buffer.concat([LOGO, chunk]);
  image.writeUInt32LE(image.length - 8, 4);
  return image;
}

const detailsOf = async (objectId: string) => {
  const rows = await service.db
    .selectFrom('audit_log')
    .select(['detail', 'origin'])
    .where('object_id', '=', objectId)
    .where('action', '=', 'merchant.set')
    .orderBy('id')
    .execute();
  return rows;
};

describe('the form', () => {
  test('sets everything at once, with one audit entry that has the changes', async () => {
    const { merchant, ada, path, read } = await openShop();
    const fields = { support: ' help@shop.example ', accent: '#7C3AED', 'shows-note': 'on' };
    const response = await upload(path, fields, LOGO, ada);
    expect([response.statusCode, response.headers.location]).toEqual([303, path]);
    expect(textOf(await follow(service, response, ada))).toContain('Saved: your customers see it');
    expect(await read()).toMatchObject({
      support_contact: 'help@shop.example',
      accent_color: '#7c3aed',
      shows_note: true,
    });
    const logo = await findMerchantLogo(service.db, merchant.id);
    expect(logo).toEqual({ type: 'image/webp', content: LOGO });
    const page = await open(service, path, ada);
    expect(page.body).toContain('value="#7c3aed"');
    expect(page.body).toContain('value="help@shop.example"');
    expect(page.body).toMatch(/name="shows-note" value="on" checked/);
    expect(page.body).toContain('Remove the logo');

    await upload(path, { ...fields, accent: '' }, undefined, ada);
    expect(await read()).toMatchObject({ accent_color: null, shows_note: true });
    expect(await findMerchantLogo(service.db, merchant.id)).toEqual(logo);
    const entries = await detailsOf(merchant.id);
    expect(entries.map(({ origin }) => origin)).toEqual(['panel', 'panel']);
    expect(entries.map(({ detail }) => detail)).toEqual([
      {
        support_contact: 'help@shop.example',
        accent_color: '#7c3aed',
        shows_note: true,
        logo: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      { accent_color: null },
    ]);
  });

  test('removes the logo, unless another is chosen as well', async () => {
    const { merchant, ada, path } = await openShop();
    const fields = { ...EMPTY, 'removes-logo': 'on' };
    await upload(path, fields, LOGO, ada);
    expect(await findMerchantLogo(service.db, merchant.id)).toBeDefined();
    await upload(path, fields, undefined, ada);
    expect(await findMerchantLogo(service.db, merchant.id)).toBeUndefined();
    expect((await open(service, path, ada)).body).not.toContain('removes-logo');
  });

  test('that changes nothing leaves no entry', async () => {
    const { merchant, ada, path } = await openShop();
    const response = await upload(path, EMPTY, undefined, ada);
    expect(response.statusCode).toBe(303);
    expect(textOf(await follow(service, response, ada))).toContain('Nothing was changed.');
    expect(await detailsOf(merchant.id)).toEqual([]);
  });

  test.each([
    ['as it is', LOGO],
    ['of the most bytes', largest()],
  ])(
    'of an old factor keeps the logo %s and what was typed, until the code is given',
    async (_, chosen) => {
      const { merchant, path, read } = await openShop();
      const bea = await addMerchantUser(service, merchant.id, 'admin', { factorMinutesAgo: 60 });
      const asked = await upload(path, { ...EMPTY, support: 'help@shop.example' }, chosen, bea);
      expect(asked.statusCode).toBe(200);
      expect(asked.body).toContain('enctype="multipart/form-data"');
      expect(await detailsOf(merchant.id)).toEqual([]);

      const code = codeAt(bea.secret, service.clock.now);
      const sent = { ...hiddenIn(asked), 'confirmation-code': code };
      const saved = await send(path, sent, bea);
      expect([saved.statusCode, saved.headers.location]).toEqual([303, path]);
      expect((await read()).support_contact).toBe('help@shop.example');
      expect(await findMerchantLogo(service.db, merchant.id)).toEqual({
        type: 'image/webp',
        content: chosen,
      });
    },
  );

  test.each([
    ['is picked', { accent: '', 'accent-shown': '', 'accent-picked': '#b91c1c' }, '#b91c1c'],
    ['is not picked', { accent: '', 'accent-shown': '', 'accent-picked': '#0f766e' }, null],
    [
      'is written',
      { accent: '#b91c1c', 'accent-shown': '', 'accent-picked': '#0f766e' },
      '#b91c1c',
    ],
    [
      'is written and another one picked',
      { accent: '#b91c1c', 'accent-shown': '', 'accent-picked': '#7c3aed' },
      '#b91c1c',
    ],
    ['is taken away', { accent: '', 'accent-shown': '#7C3AED', 'accent-picked': '#7c3aed' }, null],
  ])('sets the accent colour that %s', async (_, fields, accent) => {
    const { ada, path, read } = await openShop();
    await upload(path, { ...fields, support: '' }, undefined, ada);
    expect((await read()).accent_color).toBe(accent);
  });

  test('shows the accent colour beside its text, and the usual one where there is none', async () => {
    const { merchant, ada, path } = await openShop();
    const picker = async () =>
      /name="accent-picked" value="(#\w+)"/.exec((await open(service, path, ada)).body)?.[1];
    const usual = await picker();
    expect(await readFile(BASE_STYLE, 'utf8')).toContain(`--accent: light-dark(${usual}, `);
    await setMerchant(operatorOf(service), merchant.id, { accentColor: '#7c3aed' });
    expect(await picker()).toBe('#7c3aed');
  });

  const png = (width: number, height: number) => {
    const size = Buffer.alloc(8);
    size.writeUInt32BE(width, 0);
    size.writeUInt32BE(height, 4);
    return Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), size]);
  };
  test.each([
    [
      'of another type',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      'is neither PNG nor WebP',
    ],
    ['with too many pixels', png(513, 1), 'has 513 × 1 pixels: at most 512 × 512'],
    ['without pixels', png(0, 8), 'has 0 × 8 pixels'],
    [
      'with a byte too many',
      Buffer.alloc(LOGO_BYTES_MAXIMUM + 1),
      `has ${LOGO_BYTES_MAXIMUM + 1} bytes: at most ${LOGO_BYTES_MAXIMUM}`,
    ],
  ])('refuses an image %s at its field, and keeps what was typed', async (_, image, reason) => {
    const { merchant, ada, path } = await openShop();
    const fields = { support: 'help@shop.example', accent: '#7c3aed', 'shows-note': 'on' };
    const response = await upload(path, fields, image, ada);
    expect(response.statusCode).toBe(422);
    expect(response.body).toContain('aria-describedby="logo-hint logo-fault"');
    expect(textOf(response)).toContain(`This image ${reason}`);
    expect(textOf(response)).toContain('Choose the logo again');
    expect(response.body).toContain('value="#7c3aed"');
    expect(response.body).toMatch(/name="shows-note" value="on" checked/);
    expect(await detailsOf(merchant.id)).toEqual([]);
  });

  test('refuses a file that is too large to read, and says so at its field', async () => {
    const { merchant, ada, path } = await openShop();
    const response = await upload(path, EMPTY, Buffer.alloc(TOO_LARGE), ada);
    expect(response.statusCode).toBe(422);
    expect(textOf(response)).toContain(
      `This image has too many bytes: at most ${LOGO_BYTES_MAXIMUM} are taken.`,
    );
    const shown = await upload(
      `${path}/preview`,
      { ...EMPTY, stage: 'paid' },
      Buffer.alloc(TOO_LARGE),
      ada,
    );
    expect(shown.statusCode).toBe(200);
    expect(shown.body).toContain('This image has too many bytes');
    expect(await detailsOf(merchant.id)).toEqual([]);
  });

  test.each([
    ['accent', 'purple', 'six hex digits'],
    ['accent', '#7c3ae', 'six hex digits'],
    ['accent', '#7c3aed;}', 'six hex digits'],
    ['support', 'nobody', 'The contact is an e-mail address'],
    ['support', 'http://shop.example/help', 'The contact is an e-mail address'],
    ['support', 'javascript:alert(1)', 'The contact is an e-mail address'],
    ['support', 'https://user:pass@shop.example/', 'The contact is an e-mail address'],
  ])('refuses %s %s', async (field, value, reason) => {
    const { merchant, ada, path } = await openShop();
    const response = await upload(path, { ...EMPTY, [field]: value }, undefined, ada);
    expect(response.statusCode).toBe(422);
    expect(textOf(response)).toContain(reason);
    expect(response.body).toContain(`id="${field}-fault"`);
    expect(response.body).toContain(`value="${value}"`);
    expect(await detailsOf(merchant.id)).toEqual([]);
  });

  test('in another encoding, or with other fields, is refused', async () => {
    const { merchant, ada, path } = await openShop();
    const unknown = await upload(path, { ...EMPTY, status: 'inactive' }, undefined, ada);
    expect(unknown.statusCode).toBe(400);
    const twice = await service.app.inject({
      method: 'POST',
      url: path,
      payload: '--x\r\nnothing',
      headers: {
        host: HOST,
        cookie: ada.cookie,
        'sec-fetch-site': 'same-origin',
        'content-type': 'multipart/form-data; boundary=x',
      },
    });
    expect(twice.statusCode).toBe(400);
    expect(await detailsOf(merchant.id)).toEqual([]);
  });

  test('of other pages is not accepted with files', async () => {
    const { merchant, ada } = await openShop();
    const path = `/panel/merchants/${merchant.id}/settings/domains/add`;
    const response = await upload(path, { domain: 'shop.example.com' }, undefined, ada);
    expect(response.statusCode).toBe(400);
  });

  test('is for admins: a member sees what is saved, and examples of it', async () => {
    const { merchant, path } = await openShop();
    await setMerchant(operatorOf(service), merchant.id, { accentColor: '#7c3aed' });
    const member = await addMerchantUser(service, merchant.id, 'member');
    const page = await open(service, path, member);
    expect(textOf(page)).toContain('Accent colour #7c3aed Support contact none');
    expect(page.body).not.toContain('enctype');
    const shown = await open(service, `${path}/preview?stage=paid`, member);
    expect(shown.body).toContain('/accents/7c3aed.css');
    expect((await upload(path, EMPTY, undefined, member)).statusCode).toBe(403);
  });
});

describe('the preview', () => {
  test.each(EXAMPLE_STAGES)('of %s shows what is saved, and has no controls', async stage => {
    const { merchant, ada, path } = await openShop();
    await setMerchant(operatorOf(service), merchant.id, {
      accentColor: '#7c3aed',
      supportContact: 'help@shop.example',
      showsNote: true,
      logo: { type: 'image/webp', content: LOGO },
    });
    const { body, headers, statusCode } = await open(
      service,
      `${path}/preview?stage=${stage}`,
      ada,
    );
    expect(statusCode).toBe(200);
    expect(body).toContain(`data-stage="${stage}"`);
    expect(body).toContain('Blue Coffee');
    expect(body).toContain('Two bags of espresso');
    expect(body).toContain(`src="data:image/webp;base64,${LOGO.toString('base64')}"`);
    expect(body).toContain('/panel/preview/checkout/accents/7c3aed.css');
    expect(body).toContain('Example: nothing here can be paid.');
    expect(body.includes('help@shop.example')).toBe(stage === 'expired');
    expect(body).not.toContain('<script');
    expect(body).toMatch(/<body[^>]* inert>/);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'none'; sandbox allow-same-origin; frame-ancestors 'self'; base-uri 'none'",
    );
  });

  test('shows what is typed, and saves none of it', async () => {
    const { merchant, ada, path } = await openShop();
    const typed = { support: 'https://shop.example/help', accent: '#b91c1c', stage: 'expired' };
    const { body } = await upload(`${path}/preview`, typed, LOGO, ada);
    expect(body).toContain('/accents/b91c1c.css');
    expect(body).toContain('href="https://shop.example/help"');
    expect(body).toContain(LOGO.toString('base64'));
    expect(body).not.toContain('Two bags');
    expect(await findMerchantLogo(service.db, merchant.id)).toBeUndefined();
    expect(await detailsOf(merchant.id)).toEqual([]);
  });

  test('shows the saved value of a field whose input is not accepted, and says what is wrong', async () => {
    const { merchant, ada, path } = await openShop();
    await setMerchant(operatorOf(service), merchant.id, { accentColor: '#7c3aed' });
    const typed = { ...EMPTY, accent: '#7c3a', stage: 'choose' };
    const { body } = await upload(`${path}/preview`, typed, Buffer.from('x'), ada);
    expect(body).toContain('/accents/7c3aed.css');
    expect(body).toContain('six hex digits');
    expect(body).toContain('neither PNG nor WebP');
  });

  test('may be framed only by its page, and only that page may have frames', async () => {
    const { merchant, ada, path } = await openShop();
    const policyOf = async (url: string) =>
      String((await open(service, url, ada)).headers['content-security-policy']);
    expect(await policyOf(path)).toContain("frame-src 'self'; frame-ancestors 'none'");
    const others = [`/panel/merchants/${merchant.id}`, path.replace('appearance', 'domains')];
    for (const url of [...others, '/panel/profile', `${path}/nothing`]) {
      expect(await policyOf(url)).toContain("frame-ancestors 'none'");
      expect(await policyOf(url)).not.toContain('frame-src');
    }
  });

  test('shows an address that nobody can pay to', () => {
    for (const environment of ['production', 'test'] as const) {
      expect(() => parseAddress('bitcoin', environment, EXAMPLE_ADDRESS)).toThrow(InvalidAddress);
    }
  });

  test('loads its files from the panel’s own host, which no other host serves', async () => {
    const apart = await startTestApp({ env: { PANEL_URL: 'https://panel.example.test' } });
    try {
      const { merchant } = await addMerchant(apart);
      const { cookie } = await addMerchantUser(apart, merchant.id, 'admin');
      const url = `/panel/merchants/${merchant.id}/settings/appearance/preview`;
      await setMerchant(operatorOf(apart), merchant.id, { accentColor: '#7c3aed' });
      const get = (path: string, host: string) =>
        apart.app.inject({ url: path, headers: { host, cookie } });
      const page = await get(url, 'panel.example.test');
      const files = [...page.body.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(
        ([, file = '']) => file,
      );
      expect(files).toHaveLength(3);
      for (const file of files) {
        const served = await get(file, 'panel.example.test');
        expect([served.statusCode, served.headers['content-type']], file).toEqual([
          ...[200, 'text/css; charset=utf-8'],
        ]);
        expect((await get(file, HOST)).statusCode, file).toBe(404);
      }
    } finally {
      await apart.close();
    }
  });
});

test('a merchant whose customers do not pay on the checkout is told so', async () => {
  const { ada, path } = await openShop({ kind: 'us' });
  expect(textOf(await open(service, path, ada))).toContain('US account');
});

test('a form without files is accepted as well', async () => {
  const { ada, path, read } = await openShop();
  await submit(service, path, { ...EMPTY, accent: '#7c3aed' }, ada);
  expect(await read()).toMatchObject({ accent_color: '#7c3aed' });
});

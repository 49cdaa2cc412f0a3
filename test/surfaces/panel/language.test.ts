import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { linkFor } from '#accounts/people/invitations.ts';
import { updatePerson } from '#storage/repositories/people/people.ts';
import { LANGUAGE_TAGS, LANGUAGES, textsIn } from '#surfaces/panel/texts/languages.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  type MailServer,
  mailEnv,
  sendDueMail,
  startMailServer,
} from '../../helpers/mail-server.ts';
import {
  addMerchantUser,
  addPerson,
  follow,
  HOST,
  submit,
  textOf,
  type Visitor,
} from '../../helpers/panel.ts';

const PROFILE = '/panel/profile';

let service: TestApp;
let server: MailServer;

beforeAll(async () => {
  server = await startMailServer();
  service = await startTestApp({ env: mailEnv(server.port) });
});
afterAll(async () => {
  await service.close();
  await server.close();
});

/** The language in which a page is sent to a browser. */
async function languageOf(url: string, acceptLanguage = '', { cookie }: { cookie?: string } = {}) {
  const headers = { host: HOST, 'accept-language': acceptLanguage };
  const { body } = await service.app.inject({
    url,
    headers: cookie === undefined ? headers : { ...headers, cookie },
  });
  return /<html lang="([^"]*)">/.exec(body)?.[1];
}

const choose = (person: Visitor, language: string) =>
  submit(service, `${PROFILE}/language`, { language }, person);

test.each([
  ['', 'en'],
  ['*', 'en'],
  ['tlh', 'en'],
  ['not a header at all;;q=x', 'en'],
  ['tlh, en-GB;q=0.5', 'en'],
])('a browser that asks for “%s” gets %s', async (acceptLanguage, tag) => {
  expect(await languageOf('/panel/sign-in', acceptLanguage)).toBe(tag);
});

describe.each(LANGUAGE_TAGS)('%s', tag => {
  const words = textsIn(tag);
  const name = LANGUAGES[tag]?.name ?? '';

  test('is the language of a browser that asks for it, on pages of failures too', async () => {
    const asked = `tlh, ${tag.toUpperCase()}-XX;q=0.9, *;q=0.1`;
    for (const url of ['/panel/sign-in', '/panel/join/x', '/panel/there-is-none']) {
      expect(await languageOf(url, asked), url).toBe(tag);
    }
  });

  test('is chosen on the profile, whatever the browser asks for, until it decides again', async () => {
    const person = await addPerson(service);
    const chosen = await choose(person, tag);
    const page = await follow(service, chosen, person);
    expect(textOf(page)).toContain(words.profile.language.changed);
    expect(page.body).toContain(`<option value="${tag}" selected>${name}</option>`);
    expect(page.body).toContain(`data-copied="${words.shell.copied}"`);
    for (const other of LANGUAGE_TAGS) expect(await languageOf(PROFILE, other, person)).toBe(tag);
    const again = await choose(person, '');
    expect(textOf(await follow(service, again, person))).toContain(
      textsIn('en').profile.language.changedByBrowser,
    );
    expect(await languageOf(PROFILE, tag, person)).toBe(tag);
  });

  test('is the language of mail to somebody who has chosen it', async () => {
    const { merchant } = await addMerchant(service);
    const { userId, ...person } = await addMerchantUser(service, merchant.id, 'admin', {
      withPassword: true,
    });
    await choose(person, tag);
    await linkFor(operatorOf(service), { userId }, 'password');
    await submit(service, '/panel/forgotten-password', { email: person.email });
    await sendDueMail(service, server.port);
    const { linkMade, passwordLink, greeting } = words.mails;
    const mails = server.to(person.email);
    expect(mails.map(({ subject }) => subject)).toEqual([linkMade.subject, passwordLink.subject]);
    for (const { text } of mails) expect(text).toContain(greeting('Ada'));
  });
});

test('mail to somebody whose browser decides is in English', async () => {
  const { merchant } = await addMerchant(service);
  const { userId, email } = await addMerchantUser(service, merchant.id, 'admin');
  await linkFor(operatorOf(service), { userId }, 'password');
  await sendDueMail(service, server.port);
  expect(server.to(email)[0]?.subject).toBe(textsIn('en').mails.linkMade.subject);
});

test('a language that this release does not have is neither taken nor shown', async () => {
  const person = await addPerson(service);
  expect((await choose(person, 'tlh')).statusCode).toBe(400);
  await updatePerson(service.db, person.personId, { language: 'tlh' });
  expect(await languageOf(PROFILE, '', person)).toBe('en');
});

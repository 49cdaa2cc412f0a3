// Signs a request with the variables keyId, secret and passphrase.
const { HmacSHA256 } = require('crypto-js');

const { method, url, body, headers } = pm.request;
const fill = text => pm.variables.replaceIn(text);
// Encodes what Postman encodes when it sends the request.
const encode = (text, pattern) =>
  fill(text).replace(pattern, part => (part === "'" ? '%27' : encodeURIComponent(part)));
const path = encode(url.getPath(), /[^\x21-\x7e]+|["<>`{}]/g);
const query = encode(url.getQueryString(), /[^\x21-\x7e]+|["'<>]/g);

const timestamp = String(Math.floor(Date.now() / 1000));
const nonce = fill('{{$guid}}');
const target = query === '' ? path : `${path}?${query}`;
const text = body?.raw ? fill(body.raw) : '';
const canonical = [timestamp, nonce, method, target, text].join('\n');
const signature = HmacSHA256(canonical, fill('{{secret}}')).toString();

headers.upsert({ key: 'X-MP-KEY-ID', value: fill('{{keyId}}') });
headers.upsert({ key: 'X-MP-PASSPHRASE', value: fill('{{passphrase}}') });
headers.upsert({ key: 'X-MP-TIMESTAMP', value: timestamp });
headers.upsert({ key: 'X-MP-NONCE', value: nonce });
headers.upsert({ key: 'X-MP-SIGNATURE', value: signature });

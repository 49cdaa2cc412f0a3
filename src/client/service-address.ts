/** Where the service is, and how a path of it is sent and signed. */
export interface ServiceAddress {
  /** @throws TypeError for what is not a path of the service. */
  locate(path: string): { readonly url: URL; readonly signedPath: string };
}

/**
 * Reads a base URL: scheme and host of the service, and the path prefix below which a proxy shows
 * it, if there is one. The service never sees that prefix, so it is sent but not signed.
 *
 * @throws TypeError for anything but an http or https URL without user, query and fragment.
 */
export function readServiceAddress(baseUrl: string): ServiceAddress {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (base === undefined || !isPlain(base)) {
    throw new TypeError(
      'baseUrl must be an http or https URL without user, query and fragment, for example https://payments.example.com',
    );
  }
  const prefix = base.pathname.replace(/\/+$/, '');
  return {
    locate(path) {
      if (!path.startsWith('/')) throw new TypeError('a path must start with /');
      // Put together as text: resolved against the base, `//host/path` would lead to another host.
      const url = new URL(base.origin + prefix + path);
      // A path of dots climbs out of the prefix, and would be signed as something else than it is.
      if (!url.pathname.startsWith(`${prefix}/`)) {
        throw new TypeError('a path must not lead out of the prefix');
      }
      return { url, signedPath: url.pathname.slice(prefix.length) + url.search };
    },
  };
}

function isPlain({ protocol, username, password, search, hash }: URL): boolean {
  const plain = username === '' && password === '' && search === '' && hash === '';
  return plain && (protocol === 'http:' || protocol === 'https:');
}

/** Maps a path of the service to the URL to request and the path to sign. */
export interface ServiceAddress {
  /** @throws TypeError for an invalid path. */
  locate(path: string): { readonly url: URL; readonly signedPath: string };
}

/**
 * Parses a base URL: scheme and host of the service, and the path prefix under which a proxy publishes
 * it, if any. The service never sees the prefix, so it is part of the URL but not of the signed path.
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
      // Concatenated, because `//host/path` resolved against the base would lead to another host.
      const url = new URL(base.origin + prefix + path);
      // `/../` would leave the prefix, and the signed path would not be the requested one.
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

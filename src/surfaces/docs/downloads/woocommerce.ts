import { Buffer } from 'node:buffer';
import { readVersion } from '../client-package/package-file.ts';
import { readFiles } from './libraries.ts';
import { type Download, integrityOf } from './serve-download.ts';
import { packZip } from './zip.ts';

/** Where the service serves the plugin for WooCommerce. */
export const WOOCOMMERCE_PATH = '/client.woocommerce.zip';

/** Name of the plugin, and the folder that WordPress unpacks it to. */
const PLUGIN = 'external-payments';
const NAMESPACE = 'ExternalPayments\\WooCommerce';

/**
 * Packs the plugin with the library for PHP inside; the same sources make the same bytes. The plugins of a shop share
 * one PHP process, and another one may bring this library or the PSR interfaces in another version. So this plugin
 * has both in its own namespace.
 */
export function packWooCommerce(): Download {
  const plugin = readFiles(
    'woocommerce',
    ['*.php', 'readme.txt', 'includes/*.php', 'assets/*.js', 'languages/*'],
    PLUGIN,
  );
  const library = readFiles('php', ['src/**/*.php'], PLUGIN).map(({ path, bytes }) => ({
    path: path.replace(`${PLUGIN}/src/`, `${PLUGIN}/library/`),
    bytes: Buffer.from(
      bytes
        .toString()
        .replace('namespace ExternalPayments;', `namespace ${NAMESPACE}\\Library;`)
        .replaceAll('use Psr\\', `use ${NAMESPACE}\\Psr\\`),
    ),
  }));
  const bytes = packZip([...plugin, ...library]);
  return {
    type: 'application/zip',
    filename: `${PLUGIN}-woocommerce-${readVersion()}.zip`,
    bytes,
    integrity: integrityOf(bytes),
  };
}

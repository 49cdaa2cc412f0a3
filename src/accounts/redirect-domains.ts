import {
  insertRedirectDomain,
  listRedirectDomains,
  removeRedirectDomain,
} from '#storage/repositories/accounts/redirect-domains.ts';
import { audited, OperationRefused, type Operator } from './audit/audited-change.ts';
import { requireLockedMerchant } from './merchants.ts';

/** Most redirect domains that a merchant may have. */
export const REDIRECT_DOMAINS_MAXIMUM = 20;

/** Hosts that may be redirect domains outside of production, also over plain HTTP. */
export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

const NAME_MAXIMUM = 253;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const TOP_LEVEL = /^([a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;

/**
 * Parses a fully qualified domain name (RFC 1123), which may be international.
 * @param allowLoopback Whether loopback hosts are accepted; never in production.
 * @returns The name as `URL.hostname` has it: lower case, in ASCII.
 * @throws OperationRefused with the reason.
 */
export function parseDomain(text: string, allowLoopback: boolean): string {
  if (text.includes('://')) throw new OperationRefused('domain-with-scheme');
  if (text.includes('*')) throw new OperationRefused('domain-with-wildcard');
  if (allowLoopback && LOOPBACK_HOSTS.includes(text)) return text;
  if (/[/?#@:\\\s]/.test(text)) throw new OperationRefused('domain-with-path');
  if (!URL.canParse(`https://${text}`)) throw new OperationRefused('domain-unreadable');
  const { hostname } = new URL(`https://${text}`);
  const labels = hostname.split('.');
  if (labels.length < 2) throw new OperationRefused('domain-not-qualified');
  if (/^[\d.]+$/.test(hostname)) throw new OperationRefused('domain-numeric');
  const topLevel = labels.at(-1) ?? '';
  if (hostname.length > NAME_MAXIMUM || !labels.every(label => LABEL.test(label))) {
    throw new OperationRefused('domain-invalid');
  }
  if (!TOP_LEVEL.test(topLevel)) throw new OperationRefused('top-level-invalid', { topLevel });
  return hostname;
}

/**
 * Allows redirects to a hostname. Adding it twice changes nothing.
 * @throws OperationRefused for an unknown merchant and above the maximum.
 */
export function addDomain(
  operator: Operator,
  merchantId: string,
  domain: string,
): Promise<{ merchantId: string; domain: string }> {
  return audited(operator, 'domain.add', async (tx, now) => {
    await requireLockedMerchant(tx, merchantId);
    const domains = await listRedirectDomains(tx, merchantId);
    if (!domains.includes(domain) && domains.length >= REDIRECT_DOMAINS_MAXIMUM) {
      throw new OperationRefused('too-many-domains', { maximum: REDIRECT_DOMAINS_MAXIMUM });
    }
    await insertRedirectDomain(tx, { merchantId, domain, now });
    return { result: { merchantId, domain }, objectId: merchantId, detail: { domain } };
  });
}

/** @throws OperationRefused when the merchant does not have it. */
export function removeDomain(
  operator: Operator,
  merchantId: string,
  domain: string,
): Promise<{ merchantId: string; domain: string }> {
  return audited(operator, 'domain.remove', async tx => {
    if ((await removeRedirectDomain(tx, { merchant_id: merchantId, domain })) === 0) {
      throw new OperationRefused('domain-missing', { name: domain });
    }
    return { result: { merchantId, domain }, objectId: merchantId, detail: { domain } };
  });
}

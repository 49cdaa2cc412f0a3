import type { FastifyReply, FastifyRequest } from 'fastify';
import { isToken } from '#crypto/token.ts';

/** Seconds that browsers keep the cookie of a device: 180 days. */
const DEVICE_SECONDS = 180 * 24 * 60 * 60;

/** Seconds that a notice waits for the next page. */
const NOTICE_SECONDS = 60;

/** The panel's cookies. Scripts cannot read them, and other sites' requests do not carry them. */
export interface PanelCookies {
  readSession(request: FastifyRequest): string | undefined;
  /** The cookie lasts until the browser is closed; the session may end before. */
  setSession(reply: FastifyReply, token: string): void;
  clearSession(reply: FastifyReply): void;
  readDevice(request: FastifyRequest): string | undefined;
  setDevice(reply: FastifyReply, token: string): void;
  /** What the next page says of the change before it; undefined for nothing. */
  readNotice(request: FastifyRequest): string | undefined;
  setNotice(reply: FastifyReply, notice: string): void;
  clearNotice(reply: FastifyReply): void;
}

/**
 * @param panelUrl With https, the names begin with `__Host-`, so that no other host of the domain can set them (RFC
 * 6265bis, 4.1.3.2). Browsers reject such cookies over http, which is used on loopback only.
 */
export function createPanelCookies(panelUrl: string): PanelCookies {
  const secure = new URL(panelUrl).protocol === 'https:';
  const prefix = secure ? '__Host-' : '';
  const session = `${prefix}mp_panel`;
  const device = `${prefix}mp_device`;
  const notice = `${prefix}mp_notice`;
  const options = { path: '/', httpOnly: true, secure, sameSite: 'lax' } as const;
  const read = (request: FastifyRequest, name: string) => {
    const token = request.cookies[name];
    return token !== undefined && isToken(token) ? token : undefined;
  };
  return {
    readSession: request => read(request, session),
    setSession: (reply, token) => void reply.setCookie(session, token, options),
    clearSession: reply => void reply.clearCookie(session, options),
    readDevice: request => read(request, device),
    setDevice: (reply, token) =>
      void reply.setCookie(device, token, { ...options, maxAge: DEVICE_SECONDS }),
    // Requests that never reach the panel's own scope have no cookies.
    readNotice: request => request.cookies?.[notice],
    setNotice: (reply, text) =>
      void reply.setCookie(notice, text, { ...options, maxAge: NOTICE_SECONDS }),
    clearNotice: reply => void reply.clearCookie(notice, options),
  };
}

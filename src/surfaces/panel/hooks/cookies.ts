import type { FastifyReply, FastifyRequest } from 'fastify';
import { isToken } from '#crypto/token.ts';

/** Seconds that browsers keep the cookie of a device: 180 days. */
const DEVICE_SECONDS = 180 * 24 * 60 * 60;

/** Seconds that a notice waits for the next page. */
const NOTICE_SECONDS = 60;

/**
 * The panel's cookies. Scripts cannot read them, and other sites' requests do not carry them.
 * @param panelUrl With https, the names begin with `__Host-`, so that no other host of the domain can set them (RFC
 * 6265bis, 4.1.3.2). Browsers reject such cookies over http, which is used on loopback only.
 */
export function createPanelCookies(panelUrl: string) {
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
    readSession: (request: FastifyRequest) => read(request, session),
    /** The cookie lasts until the browser is closed; the session may end before. */
    setSession: (reply: FastifyReply, token: string) =>
      void reply.setCookie(session, token, options),
    clearSession: (reply: FastifyReply) => void reply.clearCookie(session, options),
    readDevice: (request: FastifyRequest) => read(request, device),
    setDevice: (reply: FastifyReply, token: string) =>
      void reply.setCookie(device, token, { ...options, maxAge: DEVICE_SECONDS }),
    /** What the next page says of the change before it; undefined for nothing. */
    // Requests that never reach the panel's own scope have no cookies.
    readNotice: (request: FastifyRequest) => request.cookies?.[notice],
    setNotice: (reply: FastifyReply, text: string) =>
      void reply.setCookie(notice, text, { ...options, maxAge: NOTICE_SECONDS }),
    clearNotice: (reply: FastifyReply) => void reply.clearCookie(notice, options),
  };
}

export type PanelCookies = ReturnType<typeof createPanelCookies>;

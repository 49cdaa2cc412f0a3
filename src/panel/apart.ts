import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.ts';
import { sendError } from '../errors/handler.ts';
import type { RateLimits } from '../http/rate-limit.ts';
import { wantsHtml } from '../http/wants-html.ts';
import { PANEL_PREFIX } from './assets.ts';
import { type PanelFailureOptions, sendPanelFailure } from './failures.ts';
import { separatePanel } from './hooks/host.ts';
import { leadTo, panelHeaders } from './pages.ts';

interface ApartOptions extends PanelFailureOptions {
  readonly limits: RateLimits;
  /** Sends browsers the page of the documentation for an address without a page. */
  readonly sendMissing: (request: FastifyRequest, reply: FastifyReply) => FastifyReply;
}

/** Keeps the panel to its host, whose `/` leads to the panel, and answers what either host does not have. */
export function keepPanelApart(app: FastifyInstance, options: ApartOptions): void {
  const { panelUrl, publicUrl, limits, sendMissing } = options;
  const missing = () => new ApiError('E3001', 'There is nothing at this path of this host.');
  separatePanel(app, {
    ...{ panelUrl, publicUrl, limits, prefix: PANEL_PREFIX },
    answerOnPanelHost(request, reply, failure) {
      const isRoot = failure === undefined && request.routeOptions.url === '/';
      if (isRoot) return leadTo(reply, panelUrl, PANEL_PREFIX);
      const error = failure ?? missing();
      if (!wantsHtml(request)) return sendError(error, request, reply, options);
      return sendPanelFailure(error, request, reply.headers(panelHeaders(panelUrl)), options);
    },
    answerElsewhere(request, reply, failure) {
      if (failure === undefined && wantsHtml(request)) return sendMissing(request, reply);
      return sendError(failure ?? missing(), request, reply, options);
    },
  });
}

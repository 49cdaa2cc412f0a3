import { createHash } from 'node:crypto';
import { SECRET_PREFIX, webhookHeaders } from '../../webhooks/signature.ts';
import { EVENT_EXAMPLE } from '../openapi/webhooks.ts';

/** The secret of the worked example: of the right form, and nobody's. */
export const VECTOR_SECRET =
  SECRET_PREFIX + createHash('sha256').update('a worked example').digest('base64');

const { id, type, data } = EVENT_EXAMPLE;

/** A body that is short enough to print in one line. */
const body = JSON.stringify({ id, type, data: { id: data.id, status: data.status } });

// 2026-05-17T12:04:32Z
const message = { id, timestamp: '1779019472', body };

/** A webhook with the headers that the service would send it with. */
export const WEBHOOK_VECTOR = { ...message, headers: webhookHeaders([VECTOR_SECRET], message) };

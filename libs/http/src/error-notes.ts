/**
 * Counts error responses, and logs those that reached no operation, since an operation logs its own outcome.
 */
import { type ApiError } from '@muster/contract';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { durationMillis } from './elapsed.ts';
import { type Metrics } from './metrics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The called operation, once a route has determined it. The route that sets it also logs the outcome of
     * the call.
     */
    operation: string | null;
    /** The error in the response. */
    error: ApiError | null;
  }
}

/**
 * Records an error response. It is labeled by its route, since a path may contain anything, even a secret.
 */
export function recordErrorResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  { metrics, logger }: { readonly metrics: Metrics; readonly logger: Logger },
): void {
  const { operation, error, id: requestId, method } = request;
  const outcome = error?.code ?? `http_${reply.statusCode}`;
  const reason = error?.details.reason ?? outcome;
  metrics.countError(operation ?? 'none', outcome, reason);
  if (operation !== null) return;
  const route = request.routeOptions.url ?? null;
  const durationMs = durationMillis(request);
  logger.info({ requestId, method, route, outcome, reason, durationMs }, 'refused');
}

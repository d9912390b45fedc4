/** Answers with an error are counted; and said, where no operation was reached that says how it ended. */
import { type ApiError } from '@muster/registry';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { durationMillis } from './elapsed.ts';
import { type Metrics } from './metrics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The operation that was called, once a route knows it. The route that sets it also logs how the call ended. */
    operation: string | null;
    /** The error that the caller was answered. */
    error: ApiError | null;
  }
}

/** For each answer that goes out with an error. By its route: a path may be anything, a secret too. */
export function noteError(
  request: FastifyRequest,
  reply: FastifyReply,
  { metrics, logger }: { readonly metrics: Metrics; readonly logger: Logger },
): void {
  const { operation, error, id: requestId, method } = request;
  const outcome = error?.code ?? `http_${reply.statusCode}`;
  const reason = error?.details.reason ?? outcome;
  metrics.failed(operation ?? 'none', outcome, reason);
  if (operation !== null) return;
  const route = request.routeOptions.url ?? null;
  const durationMs = durationMillis(request);
  logger.info({ requestId, method, route, outcome, reason, durationMs }, 'refused');
}

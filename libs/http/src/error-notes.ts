/** Answers with an error are counted; and said, where no operation was reached that says how it ended. */
import { type ApiError } from '@muster/registry';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type Metrics } from './metrics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Which one it is, as soon as somebody knows; whoever says so writes the line of its end, too. */
    operation: string | null;
    /** What it was answered with. */
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
  const durationMs = Math.round(reply.elapsedTime * 10) / 10;
  logger.info({ requestId, method, route, outcome, reason, durationMs }, 'refused');
}

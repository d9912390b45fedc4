/**
 * Measures how long a request has taken. Fastify's own `reply.elapsedTime` is 0 if Fastify does not log, as
 * here.
 */
import { type FastifyInstance, type FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The time when the headers had arrived, by `performance.now()`; null if the framework refused the
     * request before.
     */
    arrivedAt: number | null;
  }
}

/** Records arrival times. Call it before any hook that takes time is added. */
export function recordArrivalTimes(app: FastifyInstance): void {
  app.decorateRequest('arrivedAt', null);
  app.addHook('onRequest', (request, _reply, done) => {
    request.arrivedAt = performance.now();
    done();
  });
}

/** Returns the milliseconds since the request's headers arrived. */
export const elapsedMillis = ({ arrivedAt }: FastifyRequest): number =>
  arrivedAt === null ? 0 : performance.now() - arrivedAt;

/** Returns the elapsed milliseconds rounded to tenths, for the log. */
export const durationMillis = (request: FastifyRequest): number =>
  Math.round(elapsedMillis(request) * 10) / 10;

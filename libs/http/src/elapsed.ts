/** How long a request has taken. Fastify's own `reply.elapsedTime` is 0 wherever Fastify logs nothing itself, as here. */
import { type FastifyInstance, type FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** By `performance.now()`, once its headers were here; null where the framework refused it before. */
    arrivedAt: number | null;
  }
}

/** To be called before any hook that takes time. */
export function noteArrivals(app: FastifyInstance): void {
  app.decorateRequest('arrivedAt', null);
  app.addHook('onRequest', (request, _reply, done) => {
    request.arrivedAt = performance.now();
    done();
  });
}

/** Milliseconds since the request's headers were here. */
export const elapsedMillis = ({ arrivedAt }: FastifyRequest): number =>
  arrivedAt === null ? 0 : performance.now() - arrivedAt;

/** The same in tenths of a millisecond, as the log says it. */
export const durationMillis = (request: FastifyRequest): number =>
  Math.round(elapsedMillis(request) * 10) / 10;

/**
 * Limits request bodies while they arrive. A body that arrives with its headers, or is small and arrives soon
 * after, is not counted. An incomplete body occupies no slot of requests that are being answered. Its maximum
 * possible size counts against a share per sender and a sum for all senders, and it has a deadline. Senders
 * without a token have small shares, which take nothing from senders with a token.
 */
import { type ApiError, malformed, tooMany, unavailable } from '@muster/registry';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { createConcurrencyLimiter, type ConcurrencyLimiter } from './concurrency-limiter.ts';
import { networkOf } from './network.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The known caller, such as the id of its member. It is null before the caller is known, and on routes
     * that need no token.
     */
    party: string | null;
    /** The request's body if it did not arrive with the headers; null otherwise. */
    bodyOnItsWay: Coming | null;
  }
}

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * The size in bytes that an incomplete body counts at least. Without it, the number of small incomplete
 * bodies would be unlimited.
 */
const leastWeight = 64 * KiB;
/**
 * The delay before a small body is counted, in milliseconds. By then a body of at most `leastWeight` has
 * arrived, unless its sender stopped midway.
 */
const graceMillis = 500;
/**
 * The maximum size of a usual body in bytes. Larger bodies are counted separately and do not displace smaller
 * ones.
 */
const mostOfUsual = MiB;

interface Sort {
  readonly limiter: ConcurrencyLimiter;
  readonly ofEach: number;
  readonly millis: number;
}

/**
 * Limits the bodies that are still arriving. Senders without a token may have 128 such bodies, 8 per address.
 * Callers may have 256, 32 per caller. There may be 3 large bodies, one per caller.
 */
const createSorts = () => ({
  strangers: { limiter: createConcurrencyLimiter(8 * MiB), ofEach: 512 * KiB, millis: 5_000 },
  usual: { limiter: createConcurrencyLimiter(16 * MiB), ofEach: 2 * MiB, millis: 5_000 },
  large: { limiter: createConcurrencyLimiter(24 * MiB), ofEach: 8 * MiB, millis: 20_000 },
});

export const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Returns the declared length; undefined for a chunked body. */
const statedLength = ({ headers }: FastifyRequest): number | undefined =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length']) : undefined;

/** An incomplete body. */
interface Coming {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The maximum possible size in bytes. */
  readonly weight: number;
  timer: NodeJS.Timeout;
  leave: () => void;
  /** True after the deadline has passed. */
  isGivenUp: boolean;
  readonly count: (chunk: Buffer) => void;
}

export interface Bodies {
  /**
   * Returns true if the body is complete. Otherwise reserves capacity for the body until the response is
   * sent. Throws if there is no capacity.
   */
  admit(request: FastifyRequest, reply: FastifyReply): boolean;
  /** Releases the capacity that was reserved for the body of a request, since the body is complete. */
  arrived(request: FastifyRequest): void;
  /** True if more of the body is expected; false after its deadline has passed. */
  isComing(request: FastifyRequest): boolean;
}

export function createBodies(): Bodies {
  const { strangers, usual, large } = createSorts();

  const sortOf = ({ request, weight }: Coming): Sort =>
    request.party === null ? strangers : weight > mostOfUsual ? large : usual;

  /** Reserves capacity and starts the deadline. Throws if there is no capacity. */
  const letIn = (coming: Coming): void => {
    const sort = sortOf(coming);
    const leave = takeRoom(sort, coming);
    clearTimeout(coming.timer);
    coming.leave = leave;
    coming.timer = setTimeout(() => {
      coming.isGivenUp = true;
      fail(coming, malformed('body_too_slow'));
    }, sort.millis);
  };

  return {
    admit: (request, reply) => {
      const { raw } = request;
      const { bodyLimit } = request.routeOptions;
      const stated = statedLength(request);
      // A body that arrived with the headers has been received, but Node marks it as complete only at the end
      // of this turn of the event loop.
      const isHere = raw.complete || raw.readableLength === stated;
      // The framework refuses a body whose declared length exceeds its limit.
      if (isHere || (stated ?? 0) > bodyLimit) return true;
      const weight = Math.max(stated ?? bodyLimit, leastWeight);
      const coming = watch(request, reply, weight, letIn);
      request.bodyOnItsWay = coming;
      if (stated === undefined) raw.on('data', coming.count);
      else if (stated > leastWeight) {
        try {
          letIn(coming);
        } catch (error) {
          clearTimeout(coming.timer);
          reply.header('connection', 'close');
          throw error;
        }
      }
      return false;
    },
    arrived: (request) => {
      if (request.bodyOnItsWay !== null) stopWatching(request.bodyOnItsWay);
    },
    isComing: (request) =>
      hasBody(request) && !request.raw.complete && request.bodyOnItsWay?.isGivenUp !== true,
  };
}

/**
 * Reserves capacity for a body once it has not arrived within the grace period, or has turned out to be
 * large.
 */
function watch(
  request: FastifyRequest,
  reply: FastifyReply,
  weight: number,
  letIn: (coming: Coming) => void,
): Coming {
  const { raw } = request;
  const enterNow = (): void => {
    raw.off('data', coming.count);
    try {
      letIn(coming);
    } catch (error) {
      fail(coming, error as ApiError);
    }
  };
  const enterIfComing = (): void => {
    if (!raw.complete && !reply.raw.closed) enterNow();
  };
  let received = 0;
  const coming: Coming = {
    request,
    reply,
    weight,
    // The second delay lets a busy process first read the data that arrived during the first delay.
    timer: setTimeout(() => setImmediate(enterIfComing), graceMillis),
    leave: () => undefined,
    isGivenUp: false,
    count: ({ length }) => {
      received += length;
      if (received > leastWeight) enterNow();
    },
  };
  reply.raw.once('close', () => {
    stopWatching(coming);
    coming.leave();
  });
  return coming;
}

/** Reserves capacity for a body and returns the function that releases it. Throws if no capacity is left. */
function takeRoom({ limiter, ofEach }: Sort, { request, weight }: Coming): () => void {
  const party = { key: request.party ?? networkOf(request.ip), most: Math.max(ofEach, weight) };
  // guard: what one party has in its hands
  const admission = limiter.enter([party], weight);
  if ('full' in admission)
    throw admission.full === null
      ? unavailable('overload', 'Too many request bodies are being sent at the same time; try again.')
      : tooMany('too_many_bodies', 1);
  return admission.leave;
}

function stopWatching({ request, timer, count }: Coming): void {
  clearTimeout(timer);
  request.raw.off('data', count);
}

/** Ends the request with an error. */
function fail(coming: Coming, error: ApiError): void {
  const { request, reply } = coming;
  stopWatching(coming);
  // The parser that reads the body receives the error, and the request is answered with it.
  if (request.raw.listenerCount('error') === 0) return;
  reply.header('connection', 'close');
  request.raw.emit('error', error);
}

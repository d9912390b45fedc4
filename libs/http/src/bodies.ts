/**
 * Limits request bodies while they arrive. A body that arrives with its headers, or is small and arrives soon
 * after, is not counted. An incomplete body occupies no slot of requests that are being answered. Its maximum
 * possible size counts against a share per sender and a sum for all senders, and it has a deadline. Senders
 * without a token have small shares, which take nothing from senders with a token.
 */
import { type ApiError, malformedRequest, tooManyRequests, serviceUnavailable } from '@muster/contract';
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
    pendingBody: PendingBody | null;
  }
}

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * The size in bytes that an incomplete body counts at least. Without it, the number of small incomplete
 * bodies would be unlimited.
 */
const minCountedBytes = 64 * KiB;
/**
 * The delay before a small body is counted, in milliseconds. By then a body of at most `minCountedBytes` has
 * arrived, unless its sender stopped midway.
 */
const smallBodyGraceMillis = 500;
/**
 * The maximum size of a usual body in bytes. Larger bodies are counted separately and do not displace smaller
 * ones.
 */
const maxUsualBodyBytes = MiB;

interface BodyLimits {
  readonly limiter: ConcurrencyLimiter;
  readonly maxBytesPerSender: number;
  readonly deadlineMillis: number;
}

/**
 * Limits the bodies that are still arriving. Senders without a token may have 128 such bodies, 8 per address.
 * Callers may have 256, 32 per caller. There may be 3 large bodies, one per caller.
 */
const createBodyLimits = () => ({
  strangers: {
    limiter: createConcurrencyLimiter(8 * MiB),
    maxBytesPerSender: 512 * KiB,
    deadlineMillis: 5_000,
  },
  usual: { limiter: createConcurrencyLimiter(16 * MiB), maxBytesPerSender: 2 * MiB, deadlineMillis: 5_000 },
  large: { limiter: createConcurrencyLimiter(24 * MiB), maxBytesPerSender: 8 * MiB, deadlineMillis: 20_000 },
});

export const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** Returns the declared length; undefined for a chunked body. */
const declaredLength = ({ headers }: FastifyRequest): number | undefined =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length']) : undefined;

/** An incomplete body. */
interface PendingBody {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The maximum possible size in bytes. */
  readonly maxBytes: number;
  timer: NodeJS.Timeout;
  release: () => void;
  /** True after the deadline has passed. */
  hasTimedOut: boolean;
  readonly countChunk: (chunk: Buffer) => void;
}

export interface BodyLimiter {
  /**
   * Returns true if the body is complete. Otherwise reserves capacity for the body until the response is
   * sent. Throws if there is no capacity.
   */
  admit(request: FastifyRequest, reply: FastifyReply): boolean;
  /** Releases the capacity that was reserved for the body of a request, since the body is complete. */
  releaseCapacity(request: FastifyRequest): void;
  /** True if more of the body is expected; false after its deadline has passed. */
  isStillArriving(request: FastifyRequest): boolean;
}

export function createBodyLimiter(): BodyLimiter {
  const { strangers, usual, large } = createBodyLimits();

  const limitsFor = ({ request, maxBytes }: PendingBody): BodyLimits =>
    request.party === null ? strangers : maxBytes > maxUsualBodyBytes ? large : usual;

  /** Reserves capacity and starts the deadline. Throws if there is no capacity. */
  const letIn = (coming: PendingBody): void => {
    const limits = limitsFor(coming);
    const leave = reserveCapacity(limits, coming);
    clearTimeout(coming.timer);
    coming.release = leave;
    coming.timer = setTimeout(() => {
      coming.hasTimedOut = true;
      failRequest(coming, malformedRequest('body_too_slow'));
    }, limits.deadlineMillis);
  };

  return {
    admit: (request, reply) => {
      const { raw } = request;
      const { bodyLimit } = request.routeOptions;
      const stated = declaredLength(request);
      // A body that arrived with the headers has been received, but Node marks it as complete only at the end
      // of this turn of the event loop.
      const isHere = raw.complete || raw.readableLength === stated;
      // The framework refuses a body whose declared length exceeds its limit.
      if (isHere || (stated ?? 0) > bodyLimit) return true;
      const weight = Math.max(stated ?? bodyLimit, minCountedBytes);
      const coming = watchBody(request, reply, weight, letIn);
      request.pendingBody = coming;
      if (stated === undefined) raw.on('data', coming.countChunk);
      else if (stated > minCountedBytes) {
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
    releaseCapacity: (request) => {
      if (request.pendingBody !== null) stopWatching(request.pendingBody);
    },
    isStillArriving: (request) =>
      hasBody(request) && !request.raw.complete && request.pendingBody?.hasTimedOut !== true,
  };
}

/**
 * Reserves capacity for a body once it has not arrived within the grace period, or has turned out to be
 * large.
 */
function watchBody(
  request: FastifyRequest,
  reply: FastifyReply,
  maxBytes: number,
  reserve: (coming: PendingBody) => void,
): PendingBody {
  const { raw } = request;
  const enterNow = (): void => {
    raw.off('data', coming.countChunk);
    try {
      reserve(coming);
    } catch (error) {
      failRequest(coming, error as ApiError);
    }
  };
  const enterIfComing = (): void => {
    if (!raw.complete && !reply.raw.closed) enterNow();
  };
  let received = 0;
  const coming: PendingBody = {
    request,
    reply,
    maxBytes,
    // The second delay lets a busy process first read the data that arrived during the first delay.
    timer: setTimeout(() => setImmediate(enterIfComing), smallBodyGraceMillis),
    release: () => undefined,
    hasTimedOut: false,
    countChunk: ({ length }) => {
      received += length;
      if (received > minCountedBytes) enterNow();
    },
  };
  reply.raw.once('close', () => {
    stopWatching(coming);
    coming.release();
  });
  return coming;
}

/** Reserves capacity for a body and returns the function that releases it. Throws if no capacity is left. */
function reserveCapacity(
  { limiter, maxBytesPerSender }: BodyLimits,
  { request, maxBytes }: PendingBody,
): () => void {
  const party = { key: request.party ?? networkOf(request.ip), most: Math.max(maxBytesPerSender, maxBytes) };
  // guard: what one party has in its hands
  const admission = limiter.acquire([party], maxBytes);
  if ('full' in admission)
    throw admission.full === null
      ? serviceUnavailable('overload', 'Too many request bodies are being sent at the same time; try again.')
      : tooManyRequests('too_many_bodies', 1);
  return admission.leave;
}

function stopWatching({ request, timer, countChunk }: PendingBody): void {
  clearTimeout(timer);
  request.raw.off('data', countChunk);
}

/** Ends the request with an error. */
function failRequest(pendingBody: PendingBody, error: ApiError): void {
  const { request, reply } = pendingBody;
  stopWatching(pendingBody);
  // The parser that reads the body receives the error, and the request is answered with it.
  if (request.raw.listenerCount('error') === 0) return;
  reply.header('connection', 'close');
  request.raw.emit('error', error);
}

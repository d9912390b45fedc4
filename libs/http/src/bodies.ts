/**
 * Bodies while they come in. A body that comes with its headers, or is small and comes soon after, is not counted. A body
 * that is still on its way takes no place from requests that are being answered: it weighs what it may become, within a
 * share for each sender and a sum for all senders, and has a deadline. Senders without a token have small shares, and take
 * nothing from senders with one.
 */
import { type ApiError, malformed, tooMany, unavailable } from '@muster/registry';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { createConcurrencyLimiter, type ConcurrencyLimiter } from './concurrency-limiter.ts';
import { networkOf } from './network.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The known caller, such as the id of its member; null before it is known, and on routes that need no token. */
    party: string | null;
    /** Its body, where that did not come with the headers; null otherwise. */
    bodyOnItsWay: Coming | null;
  }
}

const KiB = 1024;
const MiB = 1024 * KiB;

/** A body on its way is never less, or there could be any number of small ones. */
const leastWeight = 64 * KiB;
/** A body of at most `leastWeight` has arrived by then, unless its sender stopped in the middle. */
const graceMillis = 500;
/** Larger bodies are counted by themselves, and keep no smaller body out. */
const mostOfUsual = MiB;

interface Sort {
  readonly limiter: ConcurrencyLimiter;
  readonly ofEach: number;
  readonly millis: number;
}

/** At once: of strangers 128, 8 from each address; of callers 256, 32 of each; of large ones three, one of each. */
const createSorts = () => ({
  strangers: { limiter: createConcurrencyLimiter(8 * MiB), ofEach: 512 * KiB, millis: 5_000 },
  usual: { limiter: createConcurrencyLimiter(16 * MiB), ofEach: 2 * MiB, millis: 5_000 },
  large: { limiter: createConcurrencyLimiter(24 * MiB), ofEach: 8 * MiB, millis: 20_000 },
});

export const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** What it says it is; undefined where it comes in chunks. */
const statedLength = ({ headers }: FastifyRequest): number | undefined =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length']) : undefined;

/** A body on its way. */
interface Coming {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** What it may become. */
  readonly weight: number;
  timer: NodeJS.Timeout;
  leave: () => void;
  /** It did not come in its time. */
  isGivenUp: boolean;
  readonly count: (chunk: Buffer) => void;
}

export interface Bodies {
  /** Whether all of it is here. Where it is not it is let in, until the answer is out; throws where there is no room. */
  admit(request: FastifyRequest, reply: FastifyReply): boolean;
  /** It is here. */
  arrived(request: FastifyRequest): void;
  /** Whether more of it is to be expected; not of a sender that was given up. */
  isComing(request: FastifyRequest): boolean;
}

export function createBodies(): Bodies {
  const { strangers, usual, large } = createSorts();

  const sortOf = ({ request, weight }: Coming): Sort =>
    request.party === null ? strangers : weight > mostOfUsual ? large : usual;

  /** Gives it room and time; throws where there is no room. */
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
      // What came with the headers is read, but only at the end of this turn does Node say that it is complete.
      const isHere = raw.complete || raw.readableLength === stated;
      // Or the framework refuses it by what it says of itself.
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

/** Lets a body in that does not come soon, or that turns out to be large. */
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
    // What came in the meantime, to a process that was busy, is read first.
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

/** Takes room for a body, and answers how it is given back; throws where there is none. */
function takeRoom({ limiter, ofEach }: Sort, { request, weight }: Coming): () => void {
  const party = { key: request.party ?? networkOf(request.ip), most: Math.max(ofEach, weight) };
  // guard: what one party has in its hands
  const admission = limiter.enter([party], weight);
  if ('full' in admission)
    throw admission.full === null
      ? unavailable('overload', 'Too many bodies are on their way at once; try again.')
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
  // The parser that reads the body gets the error, and the request is answered with it.
  if (request.raw.listenerCount('error') === 0) return;
  reply.header('connection', 'close');
  request.raw.emit('error', error);
}

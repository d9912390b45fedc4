/**
 * The ways in. Each operation has a path of its own, in every spelling that CONTRACT allows; `POST /api/query`
 * takes its name in the body, and a few namespaces have a path that takes its last word there. What happens to a call
 * is the pipeline's; here it only gets in and out of HTTP.
 */
import { type Pool } from '@muster/driver';
import {
  ApiError,
  badRequest,
  bulkBodyLimit,
  malformed,
  missing,
  type Operation,
  operations,
  tooLarge,
  unknownOperation,
} from '@muster/registry';
import {
  type Answer,
  type AuthenticatedToken,
  type Awaited,
  type Environment,
  execute,
  type Handler,
} from '@muster/runtime';
import {
  type CallFacts,
  closestTo,
  createCallRecorder,
  type Metrics,
  type Service,
  userAgentOf,
} from '@muster/http';
import { type Waiter } from '@muster/tenancy';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type Authenticate } from './authenticate.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';
import { type CallLimits } from './limits.ts';
import { createLines, type EnterLines } from './lines.ts';
import { namespacePaths } from './namespace-paths.ts';
import { positionOf } from './position.ts';
import { createShares, type Shares, waitingAtOnce } from './shares.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who calls; set before the body is read. */
    caller: AuthenticatedToken | null;
  }
}

/** Resolves when the stream went on, the time is over, or the caller has left. */
export type Wait = (waiter: Waiter, awaited: Awaited, left: AbortSignal) => Promise<void>;

export interface RouteOptions {
  readonly pool: Pool;
  readonly authenticate: Authenticate;
  readonly limits: CallLimits;
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly environment: Environment;
  readonly wait: Wait;
  readonly aside: Service['aside'];
  /** Maximum number of calls answered at once. */
  readonly placesAtOnce: number;
  /** Size of the connection pool to Postgres. */
  readonly connections: number;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** All paths of an operation: every dot of its name as a slash, or kept. The first is the documented one. */
export function pathsOf(name: string): string[] {
  const [first = '', ...rest] = name.split('.');
  const spellings = rest.reduce<string[]>(
    (paths, word) => paths.flatMap((path) => [`${path}/${word}`, `${path}.${word}`]),
    [first],
  );
  return spellings.map((path) => `/api/${path}`);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const notAnObject = (): ApiError => malformed('invalid_json', 'The body must be a JSON object.');

type Run = (request: FastifyRequest, reply: FastifyReply, params: unknown) => Promise<FastifyReply>;

interface Waiting {
  readonly wait: Wait;
  readonly aside: Service['aside'];
  readonly shares: Shares;
  readonly linesOf: (handler: Handler) => EnterLines;
}

/** A caller that waits for something to happen takes no place among those that are being served. */
async function waitAside(
  { wait, aside, shares }: Waiting,
  request: FastifyRequest,
  { identity }: AuthenticatedToken,
  awaited: Awaited,
): Promise<void> {
  const leave = shares.enter(identity);
  await aside(request, (left) => wait(identity, awaited, left)).finally(leave);
}

/** Executes one operation for HTTP: everything that can be made ready is made ready here, at start-up. */
function runner(
  handler: Handler,
  { pool, environment, metrics, logger }: RouteOptions,
  waiting: Waiting,
): Run {
  const { operation } = handler;
  const recordCall = createCallRecorder(operation.name, { metrics, logger });
  const enterLines = waiting.linesOf(handler);
  return (request, reply, params) => {
    const token = request.caller;
    if (token === null) throw new Error(`${operation.name} was reached without authentication`);
    const { orgId, memberId, agentId } = token.identity;
    const facts: CallFacts = { orgId, memberId, agentId };
    return recordCall(request, facts, async () => {
      let endTurns: (() => void) | undefined;
      try {
        endTurns = await enterLines(request, token.identity, params);
        const call = {
          token,
          params,
          requestId: request.id,
          idempotencyKey: operation.effect === 'write' ? idempotencyKeyOf(request) : null,
          ip: request.ip,
          userAgent: userAgentOf(request),
          position: operation.effect === 'read' ? positionOf(request) : null,
        };
        const ask = (): Promise<Answer> => execute(pool, handler, call, environment);
        let answer = await ask();
        if (answer.awaits !== null) {
          endTurns();
          await waitAside(waiting, request, token, answer.awaits);
          answer = await ask();
        }
        if (answer.replayed) {
          facts.outcome = 'replayed';
          reply.header('idempotency-replayed', 'true');
        }
        if (answer.position !== null) reply.header('muster-position', answer.position);
        void reply
          .header('content-type', 'application/json; charset=utf-8')
          .header('cache-control', 'no-store');
        // The size of a compressed secret would tell something about it (BREACH).
        if (operation.secret === null) reply.compress(answer.json);
        else void reply.send(answer.json);
        return await reply;
      } finally {
        endTurns?.();
      }
    });
  };
}

/** The body of an operation's own path: absent means no parameters. */
const paramsOf = (body: unknown): unknown => {
  if (body === undefined) return {};
  if (!isObject(body)) throw notAnObject();
  return body;
};

/** The routes see larger bodies than the operation takes where several operations share one. */
function checkSize(operation: Operation, request: FastifyRequest): void {
  if (request.bodyBytes > operation.bodyLimit) {
    const { name, bodyLimit: limit } = operation;
    const message = `The body is larger than the ${limit} bytes that ${name} takes.`;
    throw tooLarge('body_too_large', message, { limit });
  }
}

const codesBeforeDoor = new Set<unknown>([
  'bad_request',
  'unknown_operation',
  'payload_too_large',
  'unsupported_media_type',
]);
const reasonsBeforeDoor = new Set<unknown>([
  'scope',
  'agents_may_not',
  'bound_token',
  'proof_needed',
  'no_such_path',
]);

/** Whether a call was refused before the door could look at its token; what is no ApiError is Fastify's own. */
const isBeforeDoor = (error: unknown): boolean =>
  !(error instanceof ApiError) ||
  codesBeforeDoor.has(error.code) ||
  reasonsBeforeDoor.has(error.details.reason);

/** A token that does not hold any more is the first thing to be said, though it may be remembered as one that does. */
function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const confirmed = isBeforeDoor(error) ? request.caller?.confirm() : undefined;
  void Promise.resolve(confirmed).then(
    () => reply.send(error),
    (ended: unknown) => reply.send(ended),
  );
}

/** Before the body is read: who calls, and whether they may call now. A renewal is counted by itself. */
const admission =
  ({ authenticate, limits }: RouteOptions, isRenewal: boolean) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.caller = await authenticate(request);
    const admitted = limits.admit(request.caller.identity, reply, isRenewal);
    if (admitted !== undefined) await admitted;
  };
type Admission = ReturnType<typeof admission>;

/** What the ways in lead to. */
interface Served {
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly names: readonly string[];
  /** What executes each operation, by its name. */
  readonly runners: ReadonlyMap<string, Run>;
  /** Of all calls but renewals. */
  readonly onRequest: Admission;
}

export function addOperationRoutes(app: FastifyInstance, options: RouteOptions): void {
  const { handlers, aside, wait } = options;
  const names = [...handlers.keys()];
  const waiting = {
    ...{ wait, aside },
    shares: createShares(waitingAtOnce, 'wait', 'too_many_waiting'),
    linesOf: createLines(options),
  };
  const runners = new Map(
    [...handlers.values()].map((handler) => [handler.operation.name, runner(handler, options, waiting)]),
  );

  app.decorateRequest('caller', null);
  const served: Served = { handlers, names, runners, onRequest: admission(options, false) };
  addOwnPaths(app, served, admission(options, true));
  addNamespacePaths(app, served);
  addQueryPath(app, served);
  addUnknownPaths(app, served);
}

/** The paths of each operation, in every spelling. A renewal is admitted by itself, and urgent. */
function addOwnPaths(
  app: FastifyInstance,
  { handlers, runners, onRequest }: Served,
  onRenewal: Admission,
): void {
  for (const { operation } of handlers.values()) {
    const run = runners.get(operation.name);
    if (run === undefined) continue;
    for (const url of pathsOf(operation.name)) {
      const entry = operation.isRenewal
        ? { onRequest: onRenewal, errorHandler: refuse, config: { isUrgent: true } }
        : { onRequest, errorHandler: refuse };
      app.post(url, { ...entry, bodyLimit: operation.bodyLimit }, (request, reply) =>
        run(request, reply, paramsOf(request.body)),
      );
    }
  }
}

/** The paths of namespaces: the last word of the operation's name stands beside its parameters. */
function addNamespacePaths(app: FastifyInstance, { runners, onRequest }: Served): void {
  for (const { paths, words, bodyLimit } of namespacePaths(operations)) {
    for (const path of paths) {
      app.post(path, { onRequest, errorHandler: refuse, bodyLimit }, (request, reply) => {
        if (!isObject(request.body)) throw notAnObject();
        const { operation: word, ...params } = request.body;
        const operation = typeof word === 'string' ? words.get(word) : undefined;
        const run = operation && runners.get(operation.name);
        if (operation === undefined || run === undefined) {
          throw badRequest('The body names no operation of this path.', [
            { path: 'operation', message: `must be one of ${[...words.keys()].join(', ')}` },
          ]);
        }
        checkSize(operation, request);
        return run(request, reply, params);
      });
    }
  }
}

/** `POST /api/query`, whose body names the operation. */
function addQueryPath(app: FastifyInstance, { handlers, names, runners, onRequest }: Served): void {
  app.post('/api/query', { onRequest, errorHandler: refuse, bodyLimit: bulkBodyLimit }, (request, reply) => {
    if (!isObject(request.body)) throw notAnObject();
    const { operation: name, params = {}, ...others } = request.body;
    if (typeof name !== 'string' || name === '') {
      throw badRequest('The body names no operation.', [
        { path: 'operation', message: 'must be the name of an operation' },
      ]);
    }
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) {
      throw badRequest('The body has more than operation and params.', [
        { path: unknown.slice(0, 200), message: 'is not a field here; parameters go into params' },
      ]);
    }
    const handler = handlers.get(name);
    const run = runners.get(name);
    if (handler === undefined || run === undefined) throw unknownOperation(closestTo(name, names));
    checkSize(handler.operation, request);
    if (!isObject(params))
      throw badRequest('params must be an object.', [{ path: 'params', message: 'must be an object' }]);
    return run(request, reply, params);
  });
}

/** A path below /api that is no operation: the caller mistyped a name, so say which ones are near. */
function addUnknownPaths(app: FastifyInstance, { names, onRequest }: Served): void {
  app.post('/api/*', { onRequest, errorHandler: refuse }, (request) => {
    const name = request.url
      .replace(/^\/api\//, '')
      .replace(/\?.*$/s, '')
      .replaceAll('/', '.');
    const didYouMean = closestTo(name, names);
    const details = didYouMean.length > 0 ? { didYouMean } : {};
    throw missing('no_such_path', 'No operation has this path.', details);
  });
}

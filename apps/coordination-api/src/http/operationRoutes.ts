/**
 * HTTP routes of the operations. Each operation has its own path, in every accepted spelling. `POST
 * /api/query` takes the operation's name in the body, and a few namespaces have a path that takes its last
 * word there. The pipeline executes the call; this file only converts between HTTP and calls.
 */
import { type Pool } from '@muster/driver';
import {
  ApiError,
  badRequest,
  bulkBodyLimitBytes,
  notFoundWithReason,
  type Operation,
  payloadTooLarge,
  unknownOperation,
} from '@muster/contract';
import { operations } from '@muster/registry';
import {
  type AuthenticatedToken,
  type WaitCondition,
  type WaitEnd,
  type HandlerEnvironment,
  execute,
  executeWithWaits,
  type Handler,
} from '@muster/runtime';
import {
  type CallFacts,
  findSimilarNames,
  createCallRecorder,
  type Metrics,
  type Service,
  userAgentOf,
} from '@muster/http';
import { type WaitingCaller } from '@muster/tenancy';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type Authenticate } from './authenticate.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';
import { isJsonObject, requireJsonObject } from './json-object.ts';
import { type CallLimits } from './limits.ts';
import { type EnterQueues } from './lines.ts';
import { namespacePaths } from './namespace-paths.ts';
import { positionOf } from './position.ts';
import { createWaitingCallLimiter, type WaitingCallLimiter, eventWaitLimits } from './shares.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated caller; set before the body is read. */
    caller: AuthenticatedToken | null;
  }
}

/**
 * Resolves to true when the stream has new events, and to false when the time is up or the caller has
 * disconnected.
 */
export type WaitForEvents = (
  waiter: WaitingCaller,
  awaited: WaitCondition,
  disconnected: AbortSignal,
) => Promise<boolean>;

export interface OperationRouteOptions {
  readonly pool: Pool;
  readonly authenticate: Authenticate;
  readonly limits: CallLimits;
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly environment: HandlerEnvironment;
  readonly wait: WaitForEvents;
  readonly aside: Service['waitWithoutSlot'];
  readonly enterQueuesOf: (handler: Handler) => EnterQueues;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/**
 * Lists all paths of an operation: each dot of its name becomes a slash or stays. The first path is the
 * documented one.
 */
export function pathsOf(name: string): string[] {
  const [first = '', ...rest] = name.split('.');
  const spellings = rest.reduce<string[]>(
    (paths, word) => paths.flatMap((path) => [`${path}/${word}`, `${path}.${word}`]),
    [first],
  );
  return spellings.map((path) => `/api/${path}`);
}

type RunOperation = (request: FastifyRequest, reply: FastifyReply, params: unknown) => Promise<FastifyReply>;

interface WaitDependencies {
  readonly wait: WaitForEvents;
  readonly aside: Service['waitWithoutSlot'];
  readonly shares: WaitingCallLimiter;
  readonly linesOf: (handler: Handler) => EnterQueues;
}

/** Waits for events. The request occupies no request slot while it waits. */
async function waitForEvents(
  { wait, aside, shares }: WaitDependencies,
  request: FastifyRequest,
  { identity }: AuthenticatedToken,
  awaited: WaitCondition,
): Promise<WaitEnd> {
  const leave = shares.enter(identity);
  const hasAdvanced = await aside(request, (disconnected) => wait(identity, awaited, disconnected)).finally(
    leave,
  );
  if (request.raw.socket.destroyed) return 'disconnected';
  return hasAdvanced ? 'advanced' : 'timed_out';
}

/**
 * Creates the function that executes an operation for HTTP. As much as possible is prepared here, at startup.
 */
function createRunner(
  handler: Handler,
  { pool, environment, metrics, logger }: OperationRouteOptions,
  waiting: WaitDependencies,
): RunOperation {
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
        const call = {
          token,
          params,
          requestId: request.id,
          idempotencyKey: operation.effect === 'write' ? idempotencyKeyOf(request) : null,
          ip: request.ip,
          userAgent: userAgentOf(request),
          walPosition: operation.effect === 'read' ? positionOf(request) : null,
        };
        let isWoken = false;
        const answer = await executeWithWaits(
          async (isLastAttempt) => {
            // Woken reads cost little. Woken writes could block each other, so they queue again.
            if (!isWoken || operation.effect === 'write')
              endTurns = await enterLines(request, token.identity, params);
            return execute(pool, handler, { ...call, isLastAttempt }, environment);
          },
          (awaited) => {
            endTurns?.();
            isWoken = true;
            return waitForEvents(waiting, request, token, awaited);
          },
        );
        if (answer.replayed) {
          facts.outcome = 'replayed';
          reply.header('idempotency-replayed', 'true');
        }
        if (answer.walPosition !== null) reply.header('muster-position', answer.walPosition);
        void reply
          .header('content-type', 'application/json; charset=utf-8')
          .header('cache-control', 'no-store');
        // The size of a compressed secret would reveal information about it (BREACH).
        if (operation.secret === null) reply.compress(answer.json);
        else void reply.send(answer.json);
        return await reply;
      } finally {
        endTurns?.();
      }
    });
  };
}

/** Returns the parameters in the body of an operation's own path. A missing body means no parameters. */
const paramsOf = (body: unknown): unknown => (body === undefined ? {} : requireJsonObject(body));

/**
 * Checks the operation's own body limit, because a route that serves several operations accepts bodies up to
 * the largest of their limits.
 */
function requireWithinBodyLimit(operation: Operation, request: FastifyRequest): void {
  if (request.bodyBytes > operation.bodyLimit) {
    const { name, bodyLimit: limit } = operation;
    const message = `The body is larger than the limit of ${name}, ${limit} bytes.`;
    throw payloadTooLarge('body_too_large', message, { limit });
  }
}

const codesBeforeTokenCheck = new Set<unknown>([
  'bad_request',
  'unknown_operation',
  'payload_too_large',
  'unsupported_media_type',
]);
const reasonsBeforeTokenCheck = new Set<unknown>([
  'scope',
  'agents_may_not',
  'bound_token',
  'proof_needed',
  'no_such_path',
]);

/**
 * Returns true if the call was refused before the authorization check verified its token. Errors other than
 * ApiError come from Fastify.
 */
const isBeforeTokenCheck = (error: unknown): boolean =>
  !(error instanceof ApiError) ||
  codesBeforeTokenCheck.has(error.code) ||
  reasonsBeforeTokenCheck.has(error.details.reason);

/**
 * Sends an error. If the token has not been verified, verifies it first, because a revoked token takes
 * precedence even if it is cached as valid.
 */
export function sendErrorAfterTokenCheck(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const confirmed = isBeforeTokenCheck(error) ? request.caller?.verifyStillValid() : undefined;
  void Promise.resolve(confirmed).then(
    () => reply.send(error),
    (ended: unknown) => reply.send(ended),
  );
}

/**
 * Authenticates the caller and applies rate limits before the body is read. Renewals are counted separately.
 */
const createAdmission =
  ({ authenticate, limits }: OperationRouteOptions, isRenewal: boolean) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    request.caller = await authenticate(request);
    const admitted = limits.admit(request.caller.identity, reply, isRenewal);
    if (admitted !== undefined) await admitted;
  };
type Admission = ReturnType<typeof createAdmission>;

/** The operations and functions that the routes share. */
interface SharedRouteContext {
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly names: readonly string[];
  /** The function that executes each operation, by the operation's name. */
  readonly runners: ReadonlyMap<string, RunOperation>;
  /** The admission of all calls except renewals. */
  readonly onRequest: Admission;
}

export function addOperationRoutes(app: FastifyInstance, options: OperationRouteOptions): void {
  const { handlers, aside, wait } = options;
  const names = [...handlers.keys()];
  const waiting = {
    ...{ wait, aside },
    shares: createWaitingCallLimiter(eventWaitLimits, 'wait', 'too_many_waiting'),
    linesOf: options.enterQueuesOf,
  };
  const runners = new Map(
    [...handlers.values()].map((handler) => [
      handler.operation.name,
      createRunner(handler, options, waiting),
    ]),
  );

  app.decorateRequest('caller', null);
  const served: SharedRouteContext = { handlers, names, runners, onRequest: createAdmission(options, false) };
  addOperationPaths(app, served, createAdmission(options, true));
  addNamespacePaths(app, served);
  addQueryPath(app, served);
  addUnknownPaths(app, served);
}

/**
 * Adds the paths of each operation, in every spelling. Renewals have their own rate limit, and are urgent.
 */
function addOperationPaths(
  app: FastifyInstance,
  { handlers, runners, onRequest }: SharedRouteContext,
  onRenewal: Admission,
): void {
  for (const { operation } of handlers.values()) {
    const run = runners.get(operation.name);
    if (run === undefined) continue;
    for (const url of pathsOf(operation.name)) {
      const entry = operation.isRenewal
        ? { onRequest: onRenewal, errorHandler: sendErrorAfterTokenCheck, config: { isUrgent: true } }
        : { onRequest, errorHandler: sendErrorAfterTokenCheck };
      app.post(url, { ...entry, bodyLimit: operation.bodyLimit }, (request, reply) =>
        run(request, reply, paramsOf(request.body)),
      );
    }
  }
}

/**
 * Adds the paths of namespaces, whose body contains the last word of the operation's name and its parameters.
 */
function addNamespacePaths(app: FastifyInstance, { runners, onRequest }: SharedRouteContext): void {
  for (const { paths, words, bodyLimit } of namespacePaths(operations)) {
    for (const path of paths)
      app.post(path, { onRequest, errorHandler: sendErrorAfterTokenCheck, bodyLimit }, (request, reply) => {
        const { operation: word, ...params } = requireJsonObject(request.body);
        const operation = typeof word === 'string' ? words.get(word) : undefined;
        const run = operation && runners.get(operation.name);
        if (operation === undefined || run === undefined)
          throw badRequest('The body names no operation of this path.', [
            { path: 'operation', message: `must be one of ${[...words.keys()].join(', ')}` },
          ]);
        requireWithinBodyLimit(operation, request);
        return run(request, reply, params);
      });
  }
}

/** Adds `POST /api/query`, whose body names the operation. */
function addQueryPath(
  app: FastifyInstance,
  { handlers, names, runners, onRequest }: SharedRouteContext,
): void {
  app.post(
    '/api/query',
    { onRequest, errorHandler: sendErrorAfterTokenCheck, bodyLimit: bulkBodyLimitBytes },
    (request, reply) => {
      const { operation: name, params = {}, ...others } = requireJsonObject(request.body);
      if (typeof name !== 'string' || name === '')
        throw badRequest('The body names no operation.', [
          { path: 'operation', message: 'must be the name of an operation' },
        ]);
      const [unknown] = Object.keys(others);
      if (unknown !== undefined)
        throw badRequest('The body has fields other than operation and params.', [
          { path: unknown.slice(0, 200), message: 'is not a field here; put parameters into params' },
        ]);
      const handler = handlers.get(name);
      const run = runners.get(name);
      if (handler === undefined || run === undefined) throw unknownOperation(findSimilarNames(name, names));
      requireWithinBodyLimit(handler.operation, request);
      if (!isJsonObject(params))
        throw badRequest('params must be an object.', [{ path: 'params', message: 'must be an object' }]);
      return run(request, reply, params);
    },
  );
}

/**
 * Answers unknown paths below /api. The caller probably mistyped a name, so the error suggests similar ones.
 */
function addUnknownPaths(app: FastifyInstance, { names, onRequest }: SharedRouteContext): void {
  app.post('/api/*', { onRequest, errorHandler: sendErrorAfterTokenCheck }, (request) => {
    const name = request.url
      .replace(/^\/api\//, '')
      .replace(/\?.*$/s, '')
      .replaceAll('/', '.');
    const didYouMean = findSimilarNames(name, names);
    const details = didYouMean.length > 0 ? { didYouMean } : {};
    throw notFoundWithReason('no_such_path', 'No operation has this path.', details);
  });
}

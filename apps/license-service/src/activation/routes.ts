/**
 * Registers the paths that activate, check and release a license on a machine. Each attempt is rate-limited before it
 * costs a query. Neither logs nor error answers contain the key, the machine ID or the query string.
 */
import { type Pool } from '@muster/driver';
import { ApiError, type Metrics } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type z } from 'zod';
import { type AttemptAdmission, type AttemptLimiter } from '../attempts/limiter.ts';
import { type OpenedVault } from '../vault.ts';
import { invalidKeyError, tooManyAttemptsError, unknownKeyError } from './answers.ts';
import { activate, check, release } from './paths.ts';
import { type ActivationRequest, type ActivationPath, parseActivationRequest } from './question.ts';
import { recordCalls } from './recorded.ts';
import { checkLicense, type ActivationClaim } from './statements.ts';
import { UsageParams } from '../usage/records.ts';
import { findLatest } from '../releases/latest.ts';
import { LatestParams } from '../releases/records.ts';
import { reportUsage } from '../usage/usage.ts';

export interface ActivationOptions {
  readonly pool: Pool;
  readonly limiter: AttemptLimiter;
  /** Returns the opened secrets and products; undefined until the service has read them. */
  readonly opened: () => OpenedVault | undefined;
  readonly certificateSeconds: number;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Returns true for a refusal of a machine that does not own the key. The rate limiter counts it as a failure. */
const isKeyGuess = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.code === 'not_found' || error.details.reason === 'active_on_another_machine');

/** Returns true if the machine holds a slot or may get one. Attacks on a key must not lock such a machine out. */
async function mayGetSlot(pool: Pool, claim: ActivationClaim): Promise<boolean> {
  const seen = await checkLicense(pool, claim);
  return seen !== undefined && (seen.holder || seen.state === 'unactivated');
}

/** Validates and rate-limits a request. Throws if it is invalid or over a limit. */
async function admitRequest<Extra>(
  { pool, limiter, opened }: ActivationOptions,
  path: ActivationPath<Extra>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<[ActivationRequest<Extra>, AttemptAdmission]> {
  const [asked, problem] = parseActivationRequest(path, request, reply, opened());
  const keyHash = asked?.claim.keyHash;
  const admission = await limiter.admit({ kind: path.kind, address: request.ip, keyHash });
  reply.headers(admission.headers);
  if (admission.verdict === 'refused') throw tooManyAttemptsError(admission.retryAfterSeconds);
  if (asked === undefined) throw problem;
  if (admission.verdict === 'limited' && !(await mayGetSlot(pool, asked.claim)))
    throw tooManyAttemptsError(admission.retryAfterSeconds);
  return [asked, admission];
}

const createPathHandler = <Extra>(options: ActivationOptions, path: ActivationPath<Extra>) =>
  recordCalls(options, path.name, async (request, reply) => {
    const [asked, admission] = await admitRequest(options, path, request, reply);
    try {
      const answer = await path.handle(asked);
      admission.returnFailureTokens();
      return answer;
    } catch (error) {
      if (!isKeyGuess(error)) admission.returnFailureTokens();
      throw error;
    }
  });

export function addActivationRoutes(app: FastifyInstance, options: ActivationOptions): void {
  const activation: ActivationPath = {
    ...{ name: 'activate', kind: 'ip', refuseKey: invalidKeyError },
    handle: (asked) => activate(options, asked),
  };
  const checking: ActivationPath = {
    ...{ name: 'check', kind: 'check', refuseKey: unknownKeyError },
    handle: (asked) => check(options, asked),
  };
  const releasing: ActivationPath = {
    ...{ name: 'release', kind: 'ip', refuseKey: invalidKeyError },
    handle: (asked) => release(options, asked),
  };
  const usage: ActivationPath<z.output<typeof UsageParams>> = {
    ...{ name: 'usage', kind: 'usage', refuseKey: invalidKeyError, extraParams: UsageParams },
    handle: (asked) => reportUsage(options, asked),
  };
  const latest: ActivationPath<LatestParams> = {
    ...{ name: 'latest', kind: 'usage', refuseKey: invalidKeyError, extraParams: LatestParams },
    handle: (asked) => findLatest({ pool: options.pool, seals: () => options.opened()?.seals ?? [] }, asked),
  };
  app.post('/api/activate', createPathHandler(options, activation));
  app.get('/api/activate/check', createPathHandler(options, checking));
  app.post('/api/activate/release', createPathHandler(options, releasing));
  app.post('/api/releases/latest', createPathHandler(options, latest));
  app.post('/api/usage', createPathHandler(options, usage));
}

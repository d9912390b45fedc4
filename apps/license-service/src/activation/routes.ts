/**
 * Registers the paths that activate, check and release a license on a machine. Each attempt is rate-limited before it
 * costs a query. Neither logs nor error answers contain the key, the machine ID or the query string.
 */
import { type Pool } from '@muster/driver';
import { ApiError, type Metrics } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type AttemptAdmission, type Limiter } from '../attempts/limiter.ts';
import { type OpenedVault } from '../vault.ts';
import { invalidKey, tooManyAttempts, unknownKey } from './answers.ts';
import { activate, check, release } from './paths.ts';
import { type ActivationRequest, type Path, understand } from './question.ts';
import { recorded } from './recorded.ts';
import { checkLicense, type ActivationClaim } from './statements.ts';

export interface ActivationOptions {
  readonly pool: Pool;
  readonly limiter: Limiter;
  /** Returns the opened secrets and products; undefined until the service has read them. */
  readonly opened: () => OpenedVault | undefined;
  readonly certificateSeconds: number;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Returns true for a refusal of a machine that does not own the key. The rate limiter counts it as a failure. */
const isGuess = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.code === 'not_found' || error.details.reason === 'active_on_another_machine');

/** Returns true if the machine holds a slot or may get one. Attacks on a key must not lock such a machine out. */
async function mayAsk(pool: Pool, claim: ActivationClaim): Promise<boolean> {
  const seen = await checkLicense(pool, claim);
  return seen !== undefined && (seen.holder || seen.state === 'unactivated');
}

/** Validates and rate-limits a request. Throws if it is invalid or over a limit. */
async function admit(
  { pool, limiter, opened }: ActivationOptions,
  path: Path,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<[ActivationRequest, AttemptAdmission]> {
  const [asked, problem] = understand(path, request, reply, opened());
  const keyHash = asked?.claim.keyHash;
  const admission = await limiter.admit({ kind: path.kind, address: request.ip, keyHash });
  reply.headers(admission.headers);
  if (admission.verdict === 'refused') throw tooManyAttempts(admission.retryAfterSeconds);
  if (asked === undefined) throw problem;
  if (admission.verdict === 'limited' && !(await mayAsk(pool, asked.claim))) {
    throw tooManyAttempts(admission.retryAfterSeconds);
  }
  return [asked, admission];
}

const run = (options: ActivationOptions, path: Path) =>
  recorded(options, path.name, async (request, reply) => {
    const [asked, admission] = await admit(options, path, request, reply);
    try {
      const answer = await path.answer(asked);
      admission.succeeded();
      return answer;
    } catch (error) {
      if (!isGuess(error)) admission.succeeded();
      throw error;
    }
  });

export function addActivationRoutes(app: FastifyInstance, options: ActivationOptions): void {
  const activation: Path = {
    ...{ name: 'activate', kind: 'ip', refuseKey: invalidKey },
    answer: (asked) => activate(options, asked),
  };
  const checking: Path = {
    ...{ name: 'check', kind: 'check', refuseKey: unknownKey },
    answer: (asked) => check(options, asked),
  };
  const releasing: Path = {
    ...{ name: 'release', kind: 'ip', refuseKey: invalidKey },
    answer: (asked) => release(options, asked),
  };
  app.post('/api/activate', run(options, activation));
  app.get('/api/activate/check', run(options, checking));
  app.post('/api/activate/release', run(options, releasing));
}

/**
 * The three paths of a license's life on a machine. Each attempt is counted before it costs a query; nothing that is
 * logged or answered as an error has the key, the machine or the query string in it.
 */
import { newId, type Pool } from '@muster/database';
import { ApiError, type Metrics, unavailable } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type Admission, type Limiter } from '../attempts/limiter.ts';
import { hashOfKey, type Key, parseKey, prefixOf } from '../key/key.ts';
import { type Opened, type ProductAtWork } from '../vault.ts';
import {
  expiresAtOf,
  invalidKey,
  notActivated,
  refusals,
  refusedWith,
  tooManyAttempts,
  unknownKey,
} from './answers.ts';
import { certificateOf } from './certificate.ts';
import { hintOfMachine } from './machine.ts';
import { readParams, requireUtf8Query } from './params.ts';
import { type Answer, recorded } from './recorded.ts';
import { activateLicense, checkLicense, type Claim, releaseLicense, type Seen } from './statements.ts';

export interface ActivationOptions {
  readonly pool: Pool;
  readonly limiter: Limiter;
  /** Undefined until the service could read them. */
  readonly opened: () => Opened | undefined;
  readonly certificateSeconds: number;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** A question that is well put, from somebody who may ask. */
interface Asked {
  readonly key: Key;
  readonly machineId: string;
  readonly claim: Claim;
  readonly hasher: Opened['hasher'];
  readonly product: ProductAtWork;
  readonly reply: FastifyReply;
}

interface Path {
  readonly name: 'activate' | 'check' | 'release';
  readonly kind: 'ip' | 'check';
  /** What a text is refused with that is no key. */
  readonly refuseKey: typeof invalidKey;
  /** Whether what the license is makes this no guess. */
  readonly answer: (asked: Asked) => Promise<Answer>;
}

/** How many of its machines a license has, where it may have several: `2/3`. */
function sayMachines(
  reply: FastifyReply,
  { used, machineLimit, leaseSeconds }: Pick<Seen, 'used' | 'machineLimit' | 'leaseSeconds'>,
): void {
  if (machineLimit > 1 || leaseSeconds !== null) reply.header('license-machines', `${used}/${machineLimit}`);
}

/** What is answered to a machine that has no business with the key: these are counted as failures. */
const isGuess = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.code === 'not_found' || error.details.reason === 'active_on_another_machine');

export function addActivationRoutes(app: FastifyInstance, options: ActivationOptions): void {
  const { pool, limiter, opened, certificateSeconds } = options;

  /** Looks whether the asker has a slot, or may get one: what attackers do to a key must not lock that out. */
  const mayAsk = async (claim: Claim): Promise<boolean> => {
    const seen = await checkLicense(pool, claim);
    return seen !== undefined && (seen.holder || seen.state === 'unactivated');
  };

  const admit = async (
    path: Path,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<[Asked, Admission]> => {
    const [asked, problem] = understand(path, request, reply);
    const keyHash = asked?.claim.keyHash;
    const admission = await limiter.admit({ kind: path.kind, address: request.ip, keyHash });
    reply.headers(admission.headers);
    if (admission.verdict === 'refused') throw tooManyAttempts(admission.retryAfterSeconds);
    if (asked === undefined) throw problem;
    if (admission.verdict === 'limited' && !(await mayAsk(asked.claim))) {
      throw tooManyAttempts(admission.retryAfterSeconds);
    }
    return [asked, admission];
  };

  /** The question, or why there is none. */
  const understand = (
    path: Path,
    request: FastifyRequest,
    reply: FastifyReply,
  ): [Asked | undefined, unknown] => {
    try {
      if (path.name === 'check') requireUtf8Query(request.raw.url ?? '');
      const { licenseKey, machineId } = readParams(path.name === 'check' ? request.query : request.body);
      const now = opened();
      const parsed = parseKey(
        licenseKey,
        now?.products.map(({ keyPrefix }) => keyPrefix),
      );
      if (parsed.kind !== 'key') throw path.refuseKey(parsed);
      if (now === undefined) throw unavailable('database');
      const product = now.products.find(({ keyPrefix }) => keyPrefix === prefixOf(parsed.key));
      // A program of one product knows no key of another.
      if (product === undefined || (request.product ?? product.name) !== product.name) throw unknownKey();
      request.product = product.name;
      const claim = { keyHash: hashOfKey(parsed.key), machineHashes: now.hasher.hashes(machineId) };
      return [{ key: parsed.key, machineId, claim, hasher: now.hasher, product, reply }, undefined];
    } catch (error) {
      return [undefined, error];
    }
  };

  const run = (path: Path) =>
    recorded(options, path.name, async (request, reply) => {
      const [asked, admission] = await admit(path, request, reply);
      try {
        const answer = await path.answer(asked);
        admission.succeeded();
        return answer;
      } catch (error) {
        if (!isGuess(error)) admission.succeeded();
        throw error;
      }
    });

  const activate = async ({ key, machineId, claim, hasher, product, reply }: Asked): Promise<Answer> => {
    const granted = await activateLicense(pool, {
      ...claim,
      pepperId: hasher.pepperId,
      machineHint: hintOfMachine(machineId),
      eventId: newId(),
      certificateSeconds,
    });
    if (granted === undefined) throw unknownKey();
    const { id, plan, state, ends } = granted;
    sayMachines(reply, granted);
    // Whoever finds it free has it by now.
    reply.header('license-state', state === 'unactivated' ? 'active' : state);
    const refused = refusedWith(granted);
    if (refused !== undefined) throw refused;
    const { signer } = product.keys;
    if (signer !== undefined)
      reply.header('license-certificate', certificateOf(granted, product.name, machineId, signer));
    const license = { key, plan, expiresAt: expiresAtOf(ends), machineId, activated: true };
    return { licenseId: id, body: { success: true, license } };
  };

  const check = async ({ claim, reply }: Asked): Promise<Answer> => {
    const seen = await checkLicense(pool, claim);
    if (seen === undefined) throw unknownKey();
    const { id, plan, state, ends, holder } = seen;
    sayMachines(reply, seen);
    reply.header('license-state', state);
    const body = { valid: state === 'active', plan, expiresAt: expiresAtOf(ends), active: holder };
    return { licenseId: id, body };
  };

  const release = async ({ key, machineId, claim, reply }: Asked): Promise<Answer> => {
    const released = await releaseLicense(pool, { ...claim, eventId: newId() });
    if (released === undefined) throw unknownKey();
    const { id, plan, state, ends, transfersLeft, offlineUntil } = released;
    sayMachines(reply, released);
    if (state === 'active') throw new Error('a release that was neither done nor refused');
    if (state === 'unactivated') throw notActivated();
    if (state !== 'released') {
      if (state !== 'transfers_exhausted') reply.header('license-state', state);
      throw refusals[state]();
    }
    reply.header('license-state', 'unactivated').header('license-transfers-left', String(transfersLeft));
    // Until then the machine may still run on its certificate.
    if (offlineUntil !== null) reply.header('license-offline-until', offlineUntil);
    const license = { key, plan, expiresAt: expiresAtOf(ends), machineId, activated: false };
    return { licenseId: id, body: { success: true, license } };
  };

  app.post('/api/activate', run({ name: 'activate', kind: 'ip', refuseKey: invalidKey, answer: activate }));
  app.get('/api/activate/check', run({ name: 'check', kind: 'check', refuseKey: unknownKey, answer: check }));
  app.post(
    '/api/activate/release',
    run({ name: 'release', kind: 'ip', refuseKey: invalidKey, answer: release }),
  );
}

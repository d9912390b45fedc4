/** Validates the request of a machine: its key, its machine ID and the product that the key belongs to. */
import { unavailable } from '@muster/http';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { hashOfKey, type FormattedKey, parseKey, prefixOf } from '../key/key.ts';
import { type OpenedVault, type ProductAtWork } from '../vault.ts';
import { type invalidKey, unknownKey } from './answers.ts';
import { readParams, requireUtf8Query } from './params.ts';
import { type RecordedResponse } from './recorded.ts';
import { type ActivationClaim } from './statements.ts';

/** The contents of a valid request. */
export interface ActivationRequest {
  readonly key: FormattedKey;
  readonly machineId: string;
  readonly claim: ActivationClaim;
  readonly hasher: OpenedVault['hasher'];
  readonly product: ProductAtWork;
  readonly reply: FastifyReply;
}

export interface Path {
  readonly name: 'activate' | 'check' | 'release';
  readonly kind: 'ip' | 'check';
  /** Makes the refusal of a text that is not a license key. */
  readonly refuseKey: typeof invalidKey;
  /** Handles a valid request. Throws the error of a refusal. */
  readonly answer: (asked: ActivationRequest) => Promise<RecordedResponse>;
}

/** Validates a request. Returns either its contents, or undefined and the error. */
export function understand(
  path: Path,
  request: FastifyRequest,
  reply: FastifyReply,
  now: OpenedVault | undefined,
): [ActivationRequest | undefined, unknown] {
  try {
    if (path.name === 'check') requireUtf8Query(request.raw.url ?? '');
    const { licenseKey, machineId } = readParams(path.name === 'check' ? request.query : request.body);
    const parsed = parseKey(
      licenseKey,
      now?.products.map(({ keyPrefix }) => keyPrefix),
    );
    if (parsed.kind !== 'key') throw path.refuseKey(parsed);
    if (now === undefined) throw unavailable('database');
    const product = now.products.find(({ keyPrefix }) => keyPrefix === prefixOf(parsed.key));
    // A program that names its product gets no license by the key of another product.
    if (product === undefined || (request.product ?? product.name) !== product.name) throw unknownKey();
    request.product = product.name;
    const claim = { keyHash: hashOfKey(parsed.key), machineHashes: now.hasher.hashes(machineId) };
    return [{ key: parsed.key, machineId, claim, hasher: now.hasher, product, reply }, undefined];
  } catch (error) {
    return [undefined, error];
  }
}

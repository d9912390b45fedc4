/** Validates the request of a machine: its key, its machine ID and the product that the key belongs to. */
import { parseWith, serviceUnavailable } from '@muster/http';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type z } from 'zod';
import { type Attempt } from '../attempts/limiter.ts';
import { hashKey, type FormattedKey, parseKey, keyPrefixOf } from '../key/key.ts';
import { type OpenedVault, type ProductWithKeys } from '../vault.ts';
import { type invalidKeyError, unknownKeyError } from './answers.ts';
import { parseActivationParams, requireUtf8Query, splitActivationParams } from './params.ts';
import { type RecordedResponse } from './recorded.ts';
import { type ActivationClaim } from './statements.ts';

/** The contents of a valid request. */
export interface ActivationRequest<Extra = unknown> {
  readonly key: FormattedKey;
  readonly machineId: string;
  readonly claim: ActivationClaim;
  readonly hasher: OpenedVault['hasher'];
  readonly product: ProductWithKeys;
  readonly reply: FastifyReply;
  /** The parameters besides the key and the machine, as the schema of the path returned them. */
  readonly extra: Extra;
}

export interface ActivationPath<Extra = unknown> {
  readonly name: 'activate' | 'check' | 'release' | 'usage' | 'latest';
  readonly kind: Attempt['kind'];
  /** Makes the refusal of a text that is not a license key. */
  readonly refuseKey: typeof invalidKeyError;
  /** The schema of parameters besides the key and the machine; without it there are none. */
  readonly extraParams?: z.ZodType<Extra>;
  /** Handles a valid request. Throws the error of a refusal. */
  readonly handle: (asked: ActivationRequest<Extra>) => Promise<RecordedResponse>;
}

function parseExtraParams<Extra>(schema: z.ZodType<Extra>, parameters: unknown) {
  const { activation, extra } = splitActivationParams(parameters);
  return {
    activation,
    extra: parseWith(schema, extra, 'The parameters are invalid.', { hidesUnknownNames: true }),
  };
}

/** Validates a request. Returns either its contents, or undefined and the error. */
export function parseActivationRequest<Extra>(
  path: ActivationPath<Extra>,
  request: FastifyRequest,
  reply: FastifyReply,
  vault: OpenedVault | undefined,
): [ActivationRequest<Extra> | undefined, unknown] {
  try {
    if (path.name === 'check') requireUtf8Query(request.raw.url ?? '');
    const parameters = path.name === 'check' ? request.query : request.body;
    const { activation, extra } =
      path.extraParams === undefined
        ? { activation: parameters, extra: undefined as Extra }
        : parseExtraParams(path.extraParams, parameters);
    const { licenseKey, machineId } = parseActivationParams(activation);
    const parsed = parseKey(
      licenseKey,
      vault?.products.map(({ keyPrefix }) => keyPrefix),
    );
    if (parsed.kind !== 'key') throw path.refuseKey(parsed);
    if (vault === undefined) throw serviceUnavailable('database');
    const product = vault.products.find(({ keyPrefix }) => keyPrefix === keyPrefixOf(parsed.key));
    // A program that names its product gets no license by the key of another product.
    if (product === undefined || (request.product ?? product.name) !== product.name) throw unknownKeyError();
    request.product = product.name;
    const claim = { keyHash: hashKey(parsed.key), machineHashes: vault.hasher.hashes(machineId) };
    return [{ key: parsed.key, machineId, claim, hasher: vault.hasher, product, reply, extra }, undefined];
  } catch (error) {
    return [undefined, error];
  }
}

/**
 * Answers activation requests of offline machines as `licans1.<payload>.<signature>`, signed like certificates. The
 * payload names the nonce of the request, the key and the machine. It has a certificate, or a refusal with the reason
 * that the online paths answer. The activation runs the same statement as online, so slots, ends and the trail agree.
 */
import { newId } from '@muster/driver';
import { ApiError } from '@muster/http';
import { invalidKeyError, activationRefusal, unknownKeyError } from '../activation/answers.ts';
import { signActivationCertificate } from '../activation/certificate.ts';
import { machineHintOf, machineFingerprint } from '../activation/machine.ts';
import { activateInTransaction } from '../activation/statements.ts';
import { hashKey, parseKey, keyPrefixOf } from '../key/key.ts';
import { type Db, RefusedError } from '../operators/transaction.ts';
import { signPayload } from '../signing/certificate.ts';
import { type OpenedVault, type ProductWithKeys, findLoadedProduct } from '../vault.ts';
import { type ParsedAirGapRequest } from './request.ts';

export interface AirGapAnswer {
  /** The content of the answer file to carry back. */
  readonly answer: string;
  readonly outcome:
    | { readonly kind: 'granted'; readonly licenseId: string; readonly offlineUntil: string }
    | { readonly kind: 'refused'; readonly reason: string; readonly message: string };
}

type GrantedAnswer = Extract<AirGapAnswer['outcome'], { kind: 'granted' }> & {
  readonly key: string;
  readonly certificate: string;
};

const signerOf = ({ keys }: ProductWithKeys) => {
  if (keys.signer !== undefined) return keys.signer;
  throw new RefusedError('no_signing_key', 'there is no usable signing key (run license doctor)');
};

export interface AirGapAnswerOptions {
  /** The validity of the answer in seconds. The machine may run with the answer for this time. */
  readonly seconds: number;
  /** The only product whose keys are accepted; any product by default. */
  readonly product?: string;
}

/** Activates the license. Returns the grant or the refusal, and the product if it is known. */
async function activateOffline(
  db: Db,
  vault: OpenedVault,
  { licenseKey, machineId }: ParsedAirGapRequest,
  { seconds, product: named }: AirGapAnswerOptions,
): Promise<[ProductWithKeys | undefined, GrantedAnswer | ApiError]> {
  const parsed = parseKey(
    licenseKey,
    vault.products.map(({ keyPrefix }) => keyPrefix),
  );
  if (parsed.kind !== 'key') return [undefined, invalidKeyError(parsed)];
  const product = vault.products.find(({ keyPrefix }) => keyPrefix === keyPrefixOf(parsed.key));
  if (product === undefined || (named ?? product.name) !== product.name)
    return [undefined, unknownKeyError()];
  const signer = signerOf(product);
  const granted = await activateInTransaction(db, {
    ...{ keyHash: hashKey(parsed.key), machineHashes: vault.hasher.hashes(machineId) },
    ...{ pepperId: vault.hasher.pepperId, machineHint: machineHintOf(machineId) },
    ...{ eventId: newId(), certificateSeconds: seconds },
  });
  if (granted === undefined) return [product, unknownKeyError()];
  const refused = activationRefusal(granted);
  if (refused !== undefined) return [product, refused];
  const certificate = signActivationCertificate(granted, product.name, machineId, signer);
  const offlineUntil = new Date((granted.certifiedUntil ?? 0) * 1_000).toISOString();
  return [product, { kind: 'granted', key: parsed.key, licenseId: granted.id, offlineUntil, certificate }];
}

/**
 * Answers the activation request of an offline machine, within an operator's transaction. A refusal is also
 * signed and is counted like a refusal of an online request.
 */
export async function answerAirGapRequest(
  db: Db,
  vault: OpenedVault,
  request: ParsedAirGapRequest,
  options: AirGapAnswerOptions,
): Promise<AirGapAnswer> {
  const [product, outcome] = await activateOffline(db, vault, request, options);
  const answering = product ?? findLoadedProduct(vault, options.product);
  if (answering === undefined) throw new RefusedError('no_signing_key', 'there is no usable signing key');
  const { kid, key: signingKey } = signerOf(answering);
  const about = {
    nonce: request.nonce,
    licenseKey: outcome instanceof ApiError ? request.licenseKey : outcome.key,
    machine: machineFingerprint(request.machineId),
    iat: Math.floor(Date.now() / 1_000),
    kid,
  };
  const sign = (said: object): string => signPayload(signingKey, 'licans1', { ...about, ...said });
  if (!(outcome instanceof ApiError)) {
    const { certificate, key: _, ...granted } = outcome;
    return { answer: sign({ certificate }), outcome: granted };
  }
  const { message, details } = outcome;
  return {
    answer: sign({ reason: details.reason, message, retryable: details.retryable === true }),
    outcome: { kind: 'refused', reason: details.reason, message },
  };
}

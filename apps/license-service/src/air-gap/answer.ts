/**
 * Answers activation requests of offline machines as `licans1.<payload>.<signature>`, signed like certificates. The
 * payload names the nonce of the request, the key and the machine. It has a certificate, or a refusal with the reason
 * that the online paths answer. The activation runs the same statement as online, so slots, ends and the trail agree.
 */
import { newId } from '@muster/driver';
import { ApiError } from '@muster/http';
import { invalidKey, refusedWith, unknownKey } from '../activation/answers.ts';
import { certificateOf } from '../activation/certificate.ts';
import { hintOfMachine, machineMark } from '../activation/machine.ts';
import { activateWithin } from '../activation/statements.ts';
import { hashOfKey, parseKey, prefixOf } from '../key/key.ts';
import { type Db, Refused } from '../operators/transaction.ts';
import { signText } from '../signing/certificate.ts';
import { type OpenedVault, type ProductAtWork, productOf } from '../vault.ts';
import { type ParsedAirGapRequest } from './request.ts';

export interface AirGapAnswer {
  /** The content of the answer file to carry back. */
  readonly answer: string;
  readonly outcome:
    | { readonly kind: 'granted'; readonly licenseId: string; readonly offlineUntil: string }
    | { readonly kind: 'refused'; readonly reason: string; readonly message: string };
}

type Granted = Extract<AirGapAnswer['outcome'], { kind: 'granted' }> & {
  readonly key: string;
  readonly certificate: string;
};

const signerOf = ({ keys }: ProductAtWork) => {
  if (keys.signer !== undefined) return keys.signer;
  throw new Refused('no_signing_key', 'there is no usable signing key (run license doctor)');
};

export interface AirGapAnswerOptions {
  /** The validity of the answer in seconds. The machine may run with the answer for this time. */
  readonly seconds: number;
  /** The only product whose keys are accepted; any product by default. */
  readonly product?: string;
}

/** Activates the license. Returns the grant or the refusal, and the product if it is known. */
async function activate(
  db: Db,
  opened: OpenedVault,
  { licenseKey, machineId }: ParsedAirGapRequest,
  { seconds, product: named }: AirGapAnswerOptions,
): Promise<[ProductAtWork | undefined, Granted | ApiError]> {
  const parsed = parseKey(
    licenseKey,
    opened.products.map(({ keyPrefix }) => keyPrefix),
  );
  if (parsed.kind !== 'key') return [undefined, invalidKey(parsed)];
  const product = opened.products.find(({ keyPrefix }) => keyPrefix === prefixOf(parsed.key));
  if (product === undefined || (named ?? product.name) !== product.name) return [undefined, unknownKey()];
  const signer = signerOf(product);
  const granted = await activateWithin(db, {
    ...{ keyHash: hashOfKey(parsed.key), machineHashes: opened.hasher.hashes(machineId) },
    ...{ pepperId: opened.hasher.pepperId, machineHint: hintOfMachine(machineId) },
    ...{ eventId: newId(), certificateSeconds: seconds },
  });
  if (granted === undefined) return [product, unknownKey()];
  const refused = refusedWith(granted);
  if (refused !== undefined) return [product, refused];
  const certificate = certificateOf(granted, product.name, machineId, signer);
  const offlineUntil = new Date((granted.certifiedUntil ?? 0) * 1_000).toISOString();
  return [product, { kind: 'granted', key: parsed.key, licenseId: granted.id, offlineUntil, certificate }];
}

/**
 * Answers the activation request of an offline machine, within an operator's transaction. A refusal is also
 * signed and is counted like a refusal of an online request.
 */
export async function answerRequest(
  db: Db,
  opened: OpenedVault,
  request: ParsedAirGapRequest,
  how: AirGapAnswerOptions,
): Promise<AirGapAnswer> {
  const [product, outcome] = await activate(db, opened, request, how);
  const answering = product ?? productOf(opened, how.product);
  if (answering === undefined) throw new Refused('no_signing_key', 'there is no usable signing key');
  const { kid, key: signingKey } = signerOf(answering);
  const about = {
    nonce: request.nonce,
    licenseKey: outcome instanceof ApiError ? request.licenseKey : outcome.key,
    machine: machineMark(request.machineId),
    iat: Math.floor(Date.now() / 1_000),
    kid,
  };
  const sign = (said: object): string => signText(signingKey, 'licans1', { ...about, ...said });
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

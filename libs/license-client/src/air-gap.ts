/**
 * Licenses for machines that never come online. People carry a request to the seller of the license, and
 * carry the answer back.
 * The texts are `licreq1.<payload>` and `licans1.<payload>.<signature>`. An answer is valid for the nonce,
 * the key and the machine of one request.
 */
import { type Certificate, isOfMachine, markOf, readCertificate, readSigned } from './certificate.ts';
import { type KeyRing } from './key-ring.ts';
import { textIn } from './refusals.ts';
import { sameKey } from './session.ts';
import { reasonOf, refusal, type Refused } from './standing.ts';

export interface AirGapRequest {
  readonly licenseKey: string;
  readonly machineId: string;
  readonly nonce: string;
}

export const requestText = ({ licenseKey, machineId, nonce }: AirGapRequest): string =>
  `licreq1.${Buffer.from(JSON.stringify({ licenseKey, machineId, nonce })).toString('base64url')}`;

/** An answer that grants the license to the machine. */
export interface Granted {
  readonly kind: 'granted';
  readonly licenseKey: string;
  /** The certificate as a text to store. `certificate` is its parsed form. */
  readonly text: string;
  readonly certificate: Certificate;
  /** The time of the answer by the service's clock, in seconds since 1970. */
  readonly serverSeconds: number;
}

/**
 * An answer that the machine does not have the license. If `isOwn` is false, the answer belongs to another
 * request.
 */
export interface NotGranted {
  readonly kind: 'refused';
  readonly isOwn: boolean;
  readonly serverSeconds: number;
  readonly refused: Refused;
}

const foreign = (reason: 'untrusted' | 'answer_of_another_request'): NotGranted => ({
  ...{ kind: 'refused', isOwn: false, serverSeconds: 0 },
  refused: refusal(reason),
});

/** Interprets an answer to this request. */
export function answerTo(request: AirGapRequest, text: string, ring: KeyRing): Granted | NotGranted {
  const payload = readSigned(text.trim(), 'licans1', ring);
  const { iat, retryable } = (payload ?? {}) as { iat?: unknown; retryable?: unknown };
  if (payload === undefined || !Number.isSafeInteger(iat)) return foreign('untrusted');
  const serverSeconds = Number(iat);
  const said = (name: string): string | null => textIn(payload, name);
  const isOwn =
    said('nonce') === request.nonce &&
    said('machine') === markOf(request.machineId) &&
    sameKey(said('licenseKey'), request.licenseKey);
  if (!isOwn) return foreign('answer_of_another_request');
  const reason = said('reason');
  if (reason !== null) {
    const message = said('message');
    const why = { isFinal: retryable !== true, ...(message !== null && { message }) };
    return { kind: 'refused', isOwn: true, serverSeconds, refused: refusal(reasonOf(reason), why) };
  }
  const certificateText = said('certificate') ?? '';
  const certificate = readCertificate(certificateText, ring);
  if (certificate === undefined || !isOfMachine(certificate, request.machineId)) return foreign('untrusted');
  const licenseKey = said('licenseKey') ?? '';
  return { kind: 'granted', licenseKey, text: certificateText, certificate, serverSeconds };
}

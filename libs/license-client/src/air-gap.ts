/**
 * Licenses for machines that never come online. People carry a request to the seller of the license, and
 * carry the answer back.
 * The texts are `licreq1.<payload>` and `licans1.<payload>.<signature>`. An answer is valid for the nonce,
 * the key and the machine of one request.
 */
import {
  type Certificate,
  isCertificateOfMachine,
  hashMachineId,
  readCertificate,
  verifySignedText,
} from './certificate.ts';
import { type KeyRing } from './key-ring.ts';
import { stringFieldOf } from './refusals.ts';
import { isSameKey } from './session.ts';
import { toReason, createRefusal, type LicenseRefusal } from './standing.ts';

export interface AirGapRequest {
  readonly licenseKey: string;
  readonly machineId: string;
  readonly nonce: string;
}

export const formatAirGapRequest = ({ licenseKey, machineId, nonce }: AirGapRequest): string =>
  `licreq1.${Buffer.from(JSON.stringify({ licenseKey, machineId, nonce })).toString('base64url')}`;

/** An answer that grants the license to the machine. */
export interface AirGapGrant {
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
export interface AirGapRefusal {
  readonly kind: 'refused';
  readonly isOwn: boolean;
  readonly serverSeconds: number;
  readonly refused: LicenseRefusal;
}

const foreignAnswer = (reason: 'untrusted' | 'answer_of_another_request'): AirGapRefusal => ({
  ...{ kind: 'refused', isOwn: false, serverSeconds: 0 },
  refused: createRefusal(reason),
});

/** Interprets an answer to this request. */
export function parseAirGapAnswer(
  request: AirGapRequest,
  answerText: string,
  keyRing: KeyRing,
): AirGapGrant | AirGapRefusal {
  const payload = verifySignedText(answerText.trim(), 'licans1', keyRing);
  const { iat, retryable } = (payload ?? {}) as { iat?: unknown; retryable?: unknown };
  if (payload === undefined || !Number.isSafeInteger(iat)) return foreignAnswer('untrusted');
  const serverSeconds = Number(iat);
  const readText = (name: string): string | null => stringFieldOf(payload, name);
  const isOwn =
    readText('nonce') === request.nonce &&
    readText('machine') === hashMachineId(request.machineId) &&
    isSameKey(readText('licenseKey'), request.licenseKey);
  if (!isOwn) return foreignAnswer('answer_of_another_request');
  const reason = readText('reason');
  if (reason !== null) {
    const message = readText('message');
    const why = { isFinal: retryable !== true, ...(message !== null && { message }) };
    return { kind: 'refused', isOwn: true, serverSeconds, refused: createRefusal(toReason(reason), why) };
  }
  const certificateText = readText('certificate') ?? '';
  const certificate = readCertificate(certificateText, keyRing);
  if (certificate === undefined || !isCertificateOfMachine(certificate, request.machineId))
    return foreignAnswer('untrusted');
  const licenseKey = readText('licenseKey') ?? '';
  return { kind: 'granted', licenseKey, text: certificateText, certificate, serverSeconds };
}

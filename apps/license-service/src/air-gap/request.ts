/**
 * Reads the activation request of an offline machine, a text that people carry: `licreq1.<payload>`, base64url of JSON.
 * It is not signed, because a person who has the key may activate any machine, as online.
 */
import { z } from 'zod';
import { machineIdProblem } from '../activation/machine.ts';
import { RefusedError } from '../operators/transaction.ts';
import { isNonce } from '../signing/sign-answer.ts';

export const maxRequestLength = 4_096;

const AirGapRequestSchema = z.object({
  /** The license key as a person typed it. */
  licenseKey: z.string().min(1).max(256),
  machineId: z.string().refine((id) => machineIdProblem(id) === undefined),
  /** A random value per request. The answer is valid only for this request. */
  nonce: z.string().refine(isNonce),
});
export type ParsedAirGapRequest = z.infer<typeof AirGapRequestSchema>;

const requestPattern = /^licreq1\.([A-Za-z0-9_-]+)$/;

/** Parses an activation request. Throws Refused if the text is not a complete request. */
export function parseAirGapRequest(text: string): ParsedAirGapRequest {
  const [, body] = requestPattern.exec(text.trim().slice(0, maxRequestLength)) ?? [];
  const read = AirGapRequestSchema.safeParse(body === undefined ? undefined : parseBase64UrlJson(body));
  if (read.success) return read.data;
  throw new RefusedError('no_request', 'this is not a complete request of a machine');
}

function parseBase64UrlJson(base64url: string): unknown {
  try {
    return JSON.parse(Buffer.from(base64url, 'base64url').toString());
  } catch {
    return undefined;
  }
}

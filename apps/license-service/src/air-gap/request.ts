/**
 * Reads the activation request of an offline machine, a text that people carry: `licreq1.<payload>`, base64url of JSON.
 * It is not signed, because a person who has the key may activate any machine, as online.
 */
import { z } from 'zod';
import { machineIdProblem } from '../activation/machine.ts';
import { Refused } from '../operators/transaction.ts';
import { isNonce } from '../signing/sign-answer.ts';

export const longestRequest = 4_096;

const Request = z.object({
  /** The license key as a person typed it. */
  licenseKey: z.string().min(1).max(256),
  machineId: z.string().refine((id) => machineIdProblem(id) === undefined),
  /** A random value per request. The answer is valid only for this request. */
  nonce: z.string().refine(isNonce),
});
export type ParsedAirGapRequest = z.infer<typeof Request>;

const form = /^licreq1\.([A-Za-z0-9_-]+)$/;

/** Parses an activation request. Throws Refused if the text is not a complete request. */
export function readRequest(text: string): ParsedAirGapRequest {
  const [, body] = form.exec(text.trim().slice(0, longestRequest)) ?? [];
  const read = Request.safeParse(body === undefined ? undefined : jsonIn(body));
  if (read.success) return read.data;
  throw new Refused('no_request', 'this is not a complete request of a machine');
}

function jsonIn(base64url: string): unknown {
  try {
    return JSON.parse(Buffer.from(base64url, 'base64url').toString());
  } catch {
    return undefined;
  }
}

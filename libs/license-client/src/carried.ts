/** Requests and answers that people carry to and from a machine that never comes online. */
import { randomBytes } from 'node:crypto';
import { parseAirGapAnswer, formatAirGapRequest } from './air-gap.ts';
import { deleteRequest, storeLicense, storeRequest, readStoredRequest } from './cache.ts';
import { clockStateOfCarriedAnswer } from './clock.ts';
import { isSameKey, type LicenseSession } from './session.ts';
import { createRefusal, type Standing } from './standing.ts';

/** Creates a new request, which replaces an unanswered one. */
export async function createRequest(
  { folder, machineId }: LicenseSession,
  licenseKey: string,
): Promise<string> {
  const nonce = randomBytes(18).toString('base64url');
  await storeRequest(folder, { licenseKey, nonce, isAnswered: false });
  return formatAirGapRequest({ licenseKey, machineId, nonce });
}

/** Accepts a carried answer. Returns undefined if it was accepted before. */
export async function acceptAnswer(session: LicenseSession, answer: string): Promise<Standing | undefined> {
  const { folder, machineId, ring, publicKeys, kept } = session;
  const storedRequest = await readStoredRequest(folder);
  if (storedRequest === undefined) return createRefusal('answer_of_another_request');
  const outcome = parseAirGapAnswer({ ...storedRequest, machineId }, answer, ring());
  const isKept = kept !== undefined && isSameKey(kept.licenseKey, storedRequest.licenseKey);
  if (outcome.kind === 'refused') {
    if (outcome.isOwn && isKept) {
      await storeLicense(folder, { ...kept, certificate: null });
      await deleteRequest(folder);
    }
    return outcome.refused;
  }
  // The validity of an answer counts from its first acceptance, so accepting the answer again does not extend
  // it.
  if (storedRequest.isAnswered && isKept) return undefined;
  await storeLicense(folder, {
    ...{ licenseKey: outcome.licenseKey, certificate: outcome.text },
    isLent: outcome.certificate.lease !== null,
    publicKeys: publicKeys(),
    time: clockStateOfCarriedAnswer(outcome.serverSeconds),
  });
  await storeRequest(folder, { ...storedRequest, isAnswered: true });
  return undefined;
}

/** Requests and answers that people carry to and from a machine that never comes online. */
import { randomBytes } from 'node:crypto';
import { answerTo, requestText } from './air-gap.ts';
import { forgetRequest, keep, keepRequest, readRequest } from './cache.ts';
import { timeOfCarried } from './clock.ts';
import { sameKey, type LicenseSession } from './session.ts';
import { refusal, type Standing } from './standing.ts';

/** Creates a new request, which replaces an unanswered one. */
export async function request({ folder, machineId }: LicenseSession, licenseKey: string): Promise<string> {
  const nonce = randomBytes(18).toString('base64url');
  await keepRequest(folder, { licenseKey, nonce, isAnswered: false });
  return requestText({ licenseKey, machineId, nonce });
}

/** Accepts a carried answer. Returns undefined if it was accepted before. */
export async function accepted(session: LicenseSession, answer: string): Promise<Standing | undefined> {
  const { folder, machineId, ring, publicKeys, kept } = session;
  const asked = await readRequest(folder);
  if (asked === undefined) return refusal('answer_of_another_request');
  const outcome = answerTo({ ...asked, machineId }, answer, ring());
  const isKept = kept !== undefined && sameKey(kept.licenseKey, asked.licenseKey);
  if (outcome.kind === 'refused') {
    if (outcome.isOwn && isKept) {
      await keep(folder, { ...kept, certificate: null });
      await forgetRequest(folder);
    }
    return outcome.refused;
  }
  // The validity of an answer counts from its first acceptance, so accepting the answer again does not extend
  // it.
  if (asked.isAnswered && isKept) return undefined;
  await keep(folder, {
    ...{ licenseKey: outcome.licenseKey, certificate: outcome.text },
    isLent: outcome.certificate.lease !== null,
    publicKeys: publicKeys(),
    time: timeOfCarried(outcome.serverSeconds),
  });
  await keepRequest(folder, { ...asked, isAnswered: true });
  return undefined;
}

/** Handlers of the three activation paths. Each runs one statement and returns its result. */
import { newId, type Pool } from '@muster/driver';
import { type FastifyReply } from 'fastify';
import {
  expiresAtOf,
  notActivatedError,
  refusalsByState,
  activationRefusal,
  unknownKeyError,
} from './answers.ts';
import { signActivationCertificate } from './certificate.ts';
import { machineHintOf } from './machine.ts';
import { type ActivationRequest } from './question.ts';
import { type RecordedResponse } from './recorded.ts';
import { activateLicense, checkLicense, releaseLicense, type LicenseForMachine } from './statements.ts';

/** Sets the header `license-machines`, such as `2/3`, if the license allows several machines or leases its slots. */
function setMachinesHeader(
  reply: FastifyReply,
  { used, machineLimit, leaseSeconds }: Pick<LicenseForMachine, 'used' | 'machineLimit' | 'leaseSeconds'>,
): void {
  if (machineLimit > 1 || leaseSeconds !== null) reply.header('license-machines', `${used}/${machineLimit}`);
}

export async function activate(
  { pool, certificateSeconds }: { readonly pool: Pool; readonly certificateSeconds: number },
  { key, machineId, claim, hasher, product, reply }: ActivationRequest,
): Promise<RecordedResponse> {
  const granted = await activateLicense(pool, {
    ...claim,
    pepperId: hasher.pepperId,
    machineHint: machineHintOf(machineId),
    eventId: newId(),
    certificateSeconds,
  });
  if (granted === undefined) throw unknownKeyError();
  const { id, plan, state, ends } = granted;
  setMachinesHeader(reply, granted);
  // If the license was free, the machine that asked holds it now.
  reply.header('license-state', state === 'unactivated' ? 'active' : state);
  const refused = activationRefusal(granted);
  if (refused !== undefined) throw refused;
  const { signer } = product.keys;
  if (signer !== undefined)
    reply.header('license-certificate', signActivationCertificate(granted, product.name, machineId, signer));
  const license = { key, plan, expiresAt: expiresAtOf(ends), machineId, activated: true };
  return { licenseId: id, body: { success: true, license } };
}

export async function check(
  { pool }: { readonly pool: Pool },
  { claim, reply }: ActivationRequest,
): Promise<RecordedResponse> {
  const seen = await checkLicense(pool, claim);
  if (seen === undefined) throw unknownKeyError();
  const { id, plan, state, ends, holder } = seen;
  setMachinesHeader(reply, seen);
  reply.header('license-state', state);
  const body = { valid: state === 'active', plan, expiresAt: expiresAtOf(ends), active: holder };
  return { licenseId: id, body };
}

export async function release(
  { pool }: { readonly pool: Pool },
  { key, machineId, claim, reply }: ActivationRequest,
): Promise<RecordedResponse> {
  const released = await releaseLicense(pool, { ...claim, eventId: newId() });
  if (released === undefined) throw unknownKeyError();
  const { id, plan, state, ends, transfersLeft, offlineUntil } = released;
  setMachinesHeader(reply, released);
  if (state === 'active') throw new Error('a release that was neither done nor refused');
  if (state === 'unactivated') throw notActivatedError();
  if (state !== 'released') {
    if (state !== 'transfers_exhausted') reply.header('license-state', state);
    throw refusalsByState[state]();
  }
  reply.header('license-state', 'unactivated').header('license-transfers-left', String(transfersLeft));
  // This header states until when the machine may still run on its certificate.
  if (offlineUntil !== null) reply.header('license-offline-until', offlineUntil);
  const license = { key, plan, expiresAt: expiresAtOf(ends), machineId, activated: false };
  return { licenseId: id, body: { success: true, license } };
}

/** The license of one program on one machine: activates, checks, caches for offline use, and releases it. */
import { acceptAnswer, createRequest } from './carried.ts';
import {
  requestActivation,
  toRefusedRelease,
  releaseLicense,
  updateStoredLicense,
  startOrContinueTrial,
} from './granted.ts';
import { invalidateLicense, decideOffline, withLicenseKey, decideWithoutReply } from './kept-license.ts';
import { type LatestAnswer, type LatestOptions } from './latest-answer.ts';
import { findLatestRelease } from './latest.ts';
import { type LicenseClientOptions, settingsOf } from './options.ts';
import { refusalOfNoReply, refusalOfReply, refusalOfCheck } from './refusals.ts';
import { openSession, isSameKey, type LicenseSession } from './session.ts';
import { createRefusal, type Release, type Standing } from './standing.ts';
import { type MeterReport, type LicenseUsage } from './meter-usage.ts';
import { meterUsage, readUsage, sendUsageBeforeRelease } from './usage.ts';
import { repeatChecks } from './watch.ts';

export interface LicenseClient {
  /**
   * Activates the license on this machine and stores it. Activating the same machine again is allowed. If the
   * service does not answer, a stored license of the same key counts.
   */
  activate(licenseKey: string): Promise<Standing>;
  /**
   * Checks whether the program may run: by the service, or by the certificate if the service does not answer.
   */
  check(): Promise<Standing>;
  /**
   * Checks at suitable intervals while the program runs, and reports each result. This renews a leased slot.
   * A slot that was lost while the machine slept is taken again if one is free. An error of a check is
   * reported, and the checks continue. Returns a function that stops the checks. The checks do not keep the
   * process alive.
   */
  watch(onStanding: (standing: Standing) => void, onError: (error: unknown) => void): () => void;
  /** Checks immediately, using only the stored state. Does not call the service. */
  checkOffline(): Promise<Standing>;
  /**
   * Lets the program run without a key for the duration of a trial, once per machine. Later calls continue
   * the same trial. If a license was activated here, it returns the result of check.
   */
  trial(): Promise<Standing>;
  /**
   * Creates a request for a machine that never comes online. People carry its text to the seller of the
   * license. A new request replaces the previous one. Requires the option `publicKeys`, which verify the
   * answer.
   */
  requestOffline(licenseKey: string): Promise<string>;
  /** Accepts the answer to the request. Accepting the same answer again changes nothing. */
  acceptOffline(answer: string): Promise<Standing>;
  /**
   * Counts usage of a meter, 1 by default. If the service does not answer, the event waits on this machine and is sent
   * with the next report. The event has an id, so it is counted once.
   */
  meter(meter: string, quantity?: number): Promise<MeterReport>;
  /** Sends waiting events, and returns the usage and the limit of each meter. */
  usage(): Promise<LicenseUsage>;
  /**
   * Finds the latest release that the license may download, with addresses that are valid for five minutes. The
   * license must be active on this machine.
   */
  latest(options?: LatestOptions): Promise<LatestAnswer>;
  /**
   * Releases the license for another machine. Events that wait are sent before. While they cannot be counted yet, the
   * release is refused with the reason `unsent_usage`.
   */
  release(): Promise<Release>;
  /** Returns the id by which the service knows this machine. */
  machineId(): Promise<string>;
}

/** Checks the license with the service. If the service does not answer, the stored license decides. */
async function checkLicense(session: LicenseSession): Promise<Standing> {
  const storedLicense = withLicenseKey(session.kept);
  if (session.kept !== undefined && storedLicense === undefined) return startOrContinueTrial(session);
  if (storedLicense === undefined) return createRefusal('no_license', { isFinal: true });
  const { licenseKey } = storedLicense;
  const query = new URLSearchParams({ licenseKey, machineId: session.machineId }).toString();
  const heard = await session.callService({ method: 'GET', target: `/api/activate/check?${query}` });
  if (heard.kind !== 'heard') return decideWithoutReply(session, heard);
  if (heard.status === 200 && heard.body['valid'] === true)
    return updateStoredLicense(session, storedLicense, heard);
  await invalidateLicense(session, heard);
  if (heard.status === 200 && storedLicense.isLent) {
    // The leased slot expired since the last check. Activating the license again either takes a free slot or
    // gives the reason for a refusal.
    const outcome = await requestActivation(session, licenseKey);
    return 'kind' in outcome ? refusalOfNoReply(outcome) : outcome;
  }
  return heard.status === 200 ? refusalOfCheck(heard) : refusalOfReply(heard);
}

async function activateLicense(session: LicenseSession, licenseKey: string): Promise<Standing> {
  const outcome = await requestActivation(session, licenseKey);
  if (!('kind' in outcome)) return outcome;
  const isKept = session.kept !== undefined && isSameKey(session.kept.licenseKey, licenseKey);
  return isKept ? decideWithoutReply(session, outcome) : refusalOfNoReply(outcome);
}

export function createLicenseClient(options: LicenseClientOptions): LicenseClient {
  const settings = settingsOf(options);
  const open = (): Promise<LicenseSession> => openSession(settings);
  const check = async (): Promise<Standing> => checkLicense(await open());
  return {
    machineId: async () => (await open()).machineId,
    activate: async (licenseKey) => activateLicense(await open(), licenseKey),
    check,
    trial: async () => {
      const session = await open();
      return withLicenseKey(session.kept) === undefined ? startOrContinueTrial(session) : check();
    },
    requestOffline: async (licenseKey) => createRequest(await open(), licenseKey),
    acceptOffline: async (answer) =>
      (await acceptAnswer(await open(), answer)) ?? decideOffline(await open()),
    watch: (tell, failed) => repeatChecks(check, tell, failed),
    meter: async (meter, quantity = 1) => meterUsage(await open(), meter, quantity),
    latest: async (options = {}) => findLatestRelease(await open(), options),
    usage: async () => readUsage(await open()),
    checkOffline: async () => decideOffline(await open()),
    release: async () => {
      const session = await open();
      const storedLicense = withLicenseKey(session.kept);
      if (storedLicense === undefined)
        return toRefusedRelease(createRefusal('no_license', { isFinal: true }));
      const unsent = await sendUsageBeforeRelease(session, storedLicense);
      return unsent === undefined ? releaseLicense(session, storedLicense) : toRefusedRelease(unsent);
    },
  };
}

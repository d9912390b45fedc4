/** The license of one program on one machine: activated, checked, kept for times without the service, released. */
import { randomBytes } from 'node:crypto';
import { answerTo, requestText } from './air-gap.ts';
import { type Heard, type NotHeard } from './asking.ts';
import { forget, forgetRequest, keep, keepRequest, type Kept, readRequest } from './cache.ts';
import { type Certificate, isOfMachine, readCertificate } from './certificate.ts';
import { seenAt, timeNow, timeOfCarried, timeOfServer } from './clock.ts';
import { entitledTo } from './features.ts';
import { type LicenseClientOptions, settingsOf } from './options.ts';
import { notHeard, refusalIn, refusalOfCheck, textIn } from './refusals.ts';
import { openSession, sameKey, type Session } from './session.ts';
import { type Allowed, refusal, type Refused, type Standing } from './standing.ts';
import { watchBy } from './watch.ts';

export type Release =
  | {
      readonly isReleased: true;
      /** How often the license may still be moved. */
      readonly transfersLeft: number | null;
    }
  | (Omit<Refused, 'mayRun'> & { readonly isReleased: false });

export interface LicenseClient {
  /**
   * Makes this machine the license's, and keeps that. The same machine again is welcome. Where the service does not
   * answer, a license of the same key that was kept before counts.
   */
  activate(licenseKey: string): Promise<Standing>;
  /** Whether the program may run: by the service's word, and where it does not answer by the certificate. */
  check(): Promise<Standing>;
  /**
   * Checks now, and again in time for as long as the program runs: a slot that is lent is kept so, and one that was lost,
   * while the machine slept, is taken again where one is free. Tells each standing, and what check would throw, after
   * which it goes on; answers how to stop. It does not keep the process alive.
   */
  watch(tell: (standing: Standing) => void, failed: (error: unknown) => void): () => void;
  /** The same without asking the service: at once, and as of the last time. */
  checkOffline(): Promise<Standing>;
  /**
   * Lets the program run without a key for as long as the product's trials last, once on each machine: asking again goes on
   * with the one that began. Where a license was activated here it is what check says.
   */
  trial(): Promise<Standing>;
  /**
   * For a machine that never comes online: a text to carry to whoever sells the license, who answers it. Another request
   * takes the place of this one. Needs `publicKeys`, by which the answer is believed.
   */
  requestOffline(licenseKey: string): Promise<string>;
  /** Takes in the answer to the request. The same answer once more changes nothing. */
  acceptOffline(answer: string): Promise<Standing>;
  /** Gives the license back, for another machine. */
  release(): Promise<Release>;
  /** This machine, as the service knows it. */
  machineId(): Promise<string>;
}

const timeText = (seconds: number): string => new Date(seconds * 1_000).toISOString();

/** The license that an answer is about; undefined unless it is of this key and this machine. */
function licenseIn({ body }: Heard, own: { readonly licenseKey: string; readonly machineId: string }) {
  const license: object = body['license'] ?? {};
  const key = textIn(license, 'key');
  const isOwn =
    key !== null && sameKey(key, own.licenseKey) && textIn(license, 'machineId') === own.machineId;
  return isOwn ? { ...license, key } : undefined;
}

/** The license's, or the trial's. */
const certificateIn = ({ licenseKey, certificate }: Kept, ring: Session['ring']): Certificate | undefined =>
  readCertificate(certificate ?? '', ring(), licenseKey === null ? 'trial1' : 'lic1');

const untrusted: NotHeard = { kind: 'untrusted', retryAfterSeconds: null };

/** More than half of its life is over. */
const isDue = ({ iat, exp }: Certificate, nowSeconds: number): boolean => exp - nowSeconds < (exp - iat) / 2;

/** By the certificate alone. Answers also until when the time was seen. */
function byCertificate({ kept, writtenMillis, machineId, ring }: Session): [Standing, number | undefined] {
  if (kept?.certificate == null) return [refusal('no_license', { isFinal: true }), undefined];
  const certificate = certificateIn(kept, ring);
  if (certificate === undefined) return [refusal('certificate_not_genuine'), undefined];
  if (!isOfMachine(certificate, machineId)) return [refusal('certificate_of_another_machine'), undefined];
  const now = timeNow(seenAt(kept.time, certificate.iat * 1_000), { writtenMillis });
  if (now === undefined) return [refusal('clock_turned_back'), undefined];
  if (now >= certificate.exp * 1_000) return [refusal('certificate_ended'), now];
  const { plan, exp, features } = certificate;
  const allowed: Allowed = {
    ...{ mayRun: true, by: 'certificate', plan, expiresAt: null, offlineUntil: timeText(exp) },
    isTrial: kept.licenseKey === null,
    offlineSeconds: exp - now / 1_000,
    ...entitledTo(features),
  };
  return [allowed, now];
}

/** What is kept of a license, not of a trial. */
type KeptLicense = Kept & { readonly licenseKey: string };

const licenseOf = (kept: Kept | undefined): KeptLicense | undefined =>
  kept === undefined || kept.licenseKey === null ? undefined : { ...kept, licenseKey: kept.licenseKey };

export function createLicenseClient(options: LicenseClientOptions): LicenseClient {
  const settings = settingsOf(options);
  const { folder } = settings;

  /** Goes on without the service. A disk that is full is no reason to stop a program that may run. */
  const goOn = async (session: Session): Promise<Standing> => {
    const [standing, now] = byCertificate(session);
    if (session.kept !== undefined && now !== undefined) {
      const time = seenAt(session.kept.time, now);
      if (time.latestMillis > session.kept.time.latestMillis) {
        await keep(folder, { ...session.kept, time }).catch(() => undefined);
      }
    }
    return standing;
  };

  /** Where there was no answer: what was kept counts, and else why there was none. */
  const without = async (session: Session, outcome: NotHeard): Promise<Standing> => {
    const standing = await goOn(session);
    if (standing.mayRun || session.kept?.certificate != null) return standing;
    return notHeard(outcome);
  };

  /** From here on it takes a yes of the service. What cannot be kept is a refusal all the same. */
  const drop = async ({ kept, publicKeys }: Session, { serverSeconds }: Heard): Promise<void> => {
    if (kept === undefined) return;
    const time = timeOfServer(serverSeconds);
    const refused = { ...kept, certificate: null, publicKeys: publicKeys(), time };
    await keep(folder, refused).catch(() => undefined);
    await forgetRequest(folder).catch(() => undefined);
  };

  const activateIn = async (session: Session, licenseKey: string): Promise<Standing | NotHeard> => {
    const { machineId, ring, publicKeys, kept } = session;
    const heard = await session.ask({
      method: 'POST',
      target: '/api/activate',
      body: JSON.stringify({ licenseKey, machineId }),
    });
    if (heard.kind !== 'heard') return heard;
    if (heard.status !== 200) {
      if (kept !== undefined && sameKey(kept.licenseKey, licenseKey)) await drop(session, heard);
      return refusalIn(heard);
    }
    const license = licenseIn(heard, { licenseKey, machineId });
    const text = heard.header('license-certificate') ?? '';
    const certificate = readCertificate(text, ring());
    // A yes to this very question has all three; one that has not is somebody else's.
    if (license === undefined || certificate === undefined || !isOfMachine(certificate, machineId))
      return untrusted;
    await keep(folder, {
      licenseKey: license.key,
      certificate: text,
      isLent: certificate.lease !== null,
      publicKeys: publicKeys(),
      time: timeOfServer(heard.serverSeconds),
    });
    return {
      ...{ mayRun: true, by: 'service', isTrial: false },
      ...{ plan: textIn(license, 'plan') ?? '', expiresAt: textIn(license, 'expiresAt') },
      offlineUntil: timeText(certificate.exp),
      offlineSeconds: certificate.exp - heard.serverSeconds,
      ...entitledTo(certificate.features),
    };
  };

  /** The service has said yes: what is kept is brought up to date, and the certificate where it is due. */
  const renewed = async (session: Session, kept: KeptLicense, heard: Heard): Promise<Standing> => {
    const { ring, machineId, publicKeys } = session;
    const certificate = certificateIn(kept, ring);
    const isGood = certificate !== undefined && isOfMachine(certificate, machineId);
    if (!isGood || isDue(certificate, heard.serverSeconds)) {
      const outcome = await activateIn(session, kept.licenseKey);
      if (!('kind' in outcome)) return outcome;
    }
    const time = timeOfServer(heard.serverSeconds);
    await keep(folder, { ...kept, publicKeys: publicKeys(), time }).catch(() => undefined);
    const isAlive = isGood && certificate.exp > heard.serverSeconds;
    const allowed: Allowed = {
      ...{ mayRun: true, by: 'service', isTrial: false },
      ...{ plan: textIn(heard.body, 'plan') ?? '', expiresAt: textIn(heard.body, 'expiresAt') },
      offlineUntil: isAlive ? timeText(certificate.exp) : null,
      offlineSeconds: isAlive ? certificate.exp - heard.serverSeconds : null,
      // Only what is signed counts; without it the license lets people do nothing beside running.
      ...entitledTo(isGood ? certificate.features : {}),
    };
    return allowed;
  };

  /** The trial that there is, or one that begins now. */
  const tried = async (session: Session): Promise<Standing> => {
    const { kept, machineId, ring, publicKeys } = session;
    const heard = await session.ask({
      method: 'POST',
      target: '/api/trials',
      body: JSON.stringify({ machineId }),
    });
    if (heard.kind !== 'heard') return without(session, heard);
    if (heard.status !== 200) {
      if (kept !== undefined) await drop(session, heard);
      return refusalIn(heard);
    }
    const trial: object = heard.body['trial'] ?? {};
    const text = heard.header('license-certificate') ?? '';
    const certificate = readCertificate(text, ring(), 'trial1');
    const isOwn = textIn(trial, 'machineId') === machineId;
    if (!isOwn || certificate === undefined || !isOfMachine(certificate, machineId))
      return notHeard(untrusted);
    const time = timeOfServer(heard.serverSeconds);
    await keep(folder, {
      ...{ licenseKey: null, certificate: text, isLent: false, publicKeys: publicKeys(), time },
    });
    return {
      ...{ mayRun: true, by: 'service', isTrial: true },
      ...{ plan: certificate.plan, expiresAt: textIn(trial, 'expiresAt') },
      offlineUntil: timeText(certificate.exp),
      offlineSeconds: certificate.exp - heard.serverSeconds,
      ...entitledTo(certificate.features),
    };
  };

  /** Takes in what people carried here; undefined where it was taken in before. */
  const accepted = async (session: Session, answer: string): Promise<Standing | undefined> => {
    const { machineId, ring, publicKeys, kept } = session;
    const request = await readRequest(folder);
    if (request === undefined) return refusal('answer_of_another_request');
    const outcome = answerTo({ ...request, machineId }, answer, ring());
    const isKept = kept !== undefined && sameKey(kept.licenseKey, request.licenseKey);
    if (outcome.kind === 'refused') {
      if (outcome.isOwn && isKept) {
        await keep(folder, { ...kept, certificate: null });
        await forgetRequest(folder);
      }
      return outcome.refused;
    }
    // Its time was counted from the first time on: an answer of long ago is no younger for being taken in again.
    if (request.isAnswered && isKept) return undefined;
    await keep(folder, {
      ...{ licenseKey: outcome.licenseKey, certificate: outcome.text },
      isLent: outcome.certificate.lease !== null,
      publicKeys: publicKeys(),
      time: timeOfCarried(outcome.serverSeconds),
    });
    await keepRequest(folder, { ...request, isAnswered: true });
    return undefined;
  };

  const check = async (): Promise<Standing> => {
    const session = await openSession(settings);
    const { machineId } = session;
    const kept = licenseOf(session.kept);
    if (session.kept !== undefined && kept === undefined) return tried(session);
    if (kept === undefined) return refusal('no_license', { isFinal: true });
    const query = new URLSearchParams({ licenseKey: kept.licenseKey, machineId }).toString();
    const heard = await session.ask({ method: 'GET', target: `/api/activate/check?${query}` });
    if (heard.kind !== 'heard') return without(session, heard);
    if (heard.status === 200 && heard.body['valid'] === true) return renewed(session, kept, heard);
    await drop(session, heard);
    if (heard.status === 200 && kept.isLent) {
      // The time of its slot was over before it came back; activating says whether there is another, or why not.
      const outcome = await activateIn(session, kept.licenseKey);
      return 'kind' in outcome ? notHeard(outcome) : outcome;
    }
    return heard.status === 200 ? refusalOfCheck(heard) : refusalIn(heard);
  };

  return {
    machineId: async () => (await openSession(settings)).machineId,

    activate: async (licenseKey) => {
      const session = await openSession(settings);
      const outcome = await activateIn(session, licenseKey);
      if (!('kind' in outcome)) return outcome;
      const isKept = session.kept !== undefined && sameKey(session.kept.licenseKey, licenseKey);
      return isKept ? without(session, outcome) : notHeard(outcome);
    },

    check,

    trial: async () => {
      const session = await openSession(settings);
      return licenseOf(session.kept) === undefined ? tried(session) : check();
    },

    requestOffline: async (licenseKey) => {
      const { machineId } = await openSession(settings);
      const nonce = randomBytes(18).toString('base64url');
      await keepRequest(folder, { licenseKey, nonce, isAnswered: false });
      return requestText({ licenseKey, machineId, nonce });
    },

    acceptOffline: async (answer) => {
      const outcome = await accepted(await openSession(settings), answer);
      return outcome ?? goOn(await openSession(settings));
    },

    watch: (tell, failed) => watchBy(check, tell, failed),

    checkOffline: async () => goOn(await openSession(settings)),

    release: async () => {
      const session = await openSession(settings);
      const { machineId } = session;
      const kept = licenseOf(session.kept);
      const refuse = ({ mayRun: _, ...why }: Refused): Release => ({ ...why, isReleased: false });
      if (kept === undefined) return refuse(refusal('no_license', { isFinal: true }));
      const { licenseKey } = kept;
      const body = JSON.stringify({ licenseKey, machineId });
      const heard = await session.ask({ method: 'POST', target: '/api/activate/release', body });
      if (heard.kind !== 'heard') return refuse(notHeard(heard));
      if (heard.status === 200) {
        if (licenseIn(heard, { licenseKey, machineId }) === undefined) return refuse(notHeard(untrusted));
        await forget(folder);
        const left = Number(heard.header('license-transfers-left') ?? NaN);
        return { isReleased: true, transfersLeft: Number.isInteger(left) ? left : null };
      }
      const refused = refusalIn(heard);
      // Its own machine may go on with it; any other has nothing to keep.
      if (refused.reason !== 'transfers_exhausted') await drop(session, heard);
      return refuse(refused);
    },
  };
}

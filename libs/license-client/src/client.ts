/** The license of one program on one machine: activated, checked, kept for times without the service, released. */
import { accepted, request } from './carried.ts';
import { activateIn, refuse, released, renewed, tried } from './granted.ts';
import { drop, goOn, licenseOf, without } from './kept-license.ts';
import { type LicenseClientOptions, settingsOf } from './options.ts';
import { notHeard, refusalIn, refusalOfCheck } from './refusals.ts';
import { openSession, sameKey, type Session } from './session.ts';
import { refusal, type Release, type Standing } from './standing.ts';
import { watchBy } from './watch.ts';

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
   * For a machine that never comes online: a text to carry to the seller of the license, who answers it. Another request
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

/** What the service says, or what is kept where it says nothing. */
async function checkIn(session: Session): Promise<Standing> {
  const kept = licenseOf(session.kept);
  if (session.kept !== undefined && kept === undefined) return tried(session);
  if (kept === undefined) return refusal('no_license', { isFinal: true });
  const { licenseKey } = kept;
  const query = new URLSearchParams({ licenseKey, machineId: session.machineId }).toString();
  const heard = await session.ask({ method: 'GET', target: `/api/activate/check?${query}` });
  if (heard.kind !== 'heard') return without(session, heard);
  if (heard.status === 200 && heard.body['valid'] === true) return renewed(session, kept, heard);
  await drop(session, heard);
  if (heard.status === 200 && kept.isLent) {
    // The time of its slot was over before it came back; activating says whether there is another, or why not.
    const outcome = await activateIn(session, licenseKey);
    return 'kind' in outcome ? notHeard(outcome) : outcome;
  }
  return heard.status === 200 ? refusalOfCheck(heard) : refusalIn(heard);
}

async function activate(session: Session, licenseKey: string): Promise<Standing> {
  const outcome = await activateIn(session, licenseKey);
  if (!('kind' in outcome)) return outcome;
  const isKept = session.kept !== undefined && sameKey(session.kept.licenseKey, licenseKey);
  return isKept ? without(session, outcome) : notHeard(outcome);
}

export function createLicenseClient(options: LicenseClientOptions): LicenseClient {
  const settings = settingsOf(options);
  const open = (): Promise<Session> => openSession(settings);
  const check = async (): Promise<Standing> => checkIn(await open());
  return {
    machineId: async () => (await open()).machineId,
    activate: async (licenseKey) => activate(await open(), licenseKey),
    check,
    trial: async () => {
      const session = await open();
      return licenseOf(session.kept) === undefined ? tried(session) : check();
    },
    requestOffline: async (licenseKey) => request(await open(), licenseKey),
    acceptOffline: async (answer) => (await accepted(await open(), answer)) ?? goOn(await open()),
    watch: (tell, failed) => watchBy(check, tell, failed),
    checkOffline: async () => goOn(await open()),
    release: async () => {
      const session = await open();
      const kept = licenseOf(session.kept);
      return kept === undefined ? refuse(refusal('no_license', { isFinal: true })) : released(session, kept);
    },
  };
}

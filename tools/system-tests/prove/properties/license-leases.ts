/**
 * Machines hold leased slots, renew them and then stop. Another machine asks for a slot all the time while
 * the service is killed and its connections break. It must get a slot when a lease has expired, and never
 * earlier.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Dice } from '@muster/tools';
import { type Answered, type LicenseSite, openLicenseSite, redefine, type Sold } from '../license-site.ts';
import { countOf } from '../services.ts';
import { property, type Findings, type RunSetup } from '../property.ts';

const leaseSeconds = 2;
const slots = 2;
const asksEveryMillis = 80;
/** The time after which a machine without a slot gives up, in milliseconds. */
const patienceMillis = 20_000;

interface Span {
  readonly iat: number;
  readonly exp: number;
}

function spanOf({ headers }: Answered): Span {
  const [, payload = ''] = (headers.get('license-certificate') ?? '').split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Span;
}

/**
 * Holds a slot, renews it the given number of times and then stops. Returns the periods of its certificates.
 */
async function hold(site: LicenseSite, key: string, machine: string, renewals: number): Promise<Span[]> {
  const spans: Span[] = [];
  for (let nth = 0; nth <= renewals; nth += 1) {
    const answer = await site.activate(key, machine);
    // The lease expired while the service was down, and another machine has the slot.
    if (answer.status !== 200) return spans;
    spans.push(spanOf(answer));
    if (nth < renewals) await pause((leaseSeconds * 1_000) / 2);
  }
  return spans;
}

/**
 * Counts the slots that no certificate holds after this time, according to Postgres. The recorded ends only
 * move later, so these slots were also free at that time.
 */
const freeSince = async ({ owner }: LicenseSite, { id }: Sold, since: number): Promise<number> =>
  slots -
  (await countOf(
    owner,
    `licenses.license_machines
     where license_id = $1 and released_at is null and offline_until > to_timestamp($2)`,
    [id, since / 1_000],
  ));

/**
 * Requests a slot repeatedly until the challenger gets one. Returns the start of its certificate in seconds
 * since 1970; undefined if there was a violation.
 */
async function challenge(
  site: LicenseSite,
  sold: Sold,
  violations: string[],
  signal: AbortSignal,
): Promise<number | undefined> {
  for (const end = performance.now() + patienceMillis; performance.now() < end && !signal.aborted;) {
    const asked = Date.now();
    const answer = await site.activate(sold.key, 'challenger-000001');
    if (answer.status === 200) return spanOf(answer).iat;
    if ((await freeSince(site, sold, asked)) > 0) {
      violations.push('a slot whose time was over was not given to the one that asked');
      return undefined;
    }
    await pause(asksEveryMillis);
  }
  violations.push('no slot came free');
  return undefined;
}

async function contest(site: LicenseSite, sold: Sold, renewals: number): Promise<string[]> {
  const violations: string[] = [];
  const machines = Array.from({ length: slots }, (_, nth) => `holder-${nth}-000001`);
  // All slots are taken before the challenger asks.
  await Promise.all(machines.map((machine) => site.activate(sold.key, machine)));
  const over = new AbortController();
  const challenged = challenge(site, sold, violations, over.signal);
  const held = await Promise.all(machines.map((machine) => hold(site, sold.key, machine, renewals)));
  const began = await challenged;
  over.abort();
  if (began === undefined) return violations;
  // A late renewal does not count: the slot had gone to the challenger and become free again.
  const holding = held.filter((spans) => spans.some(({ iat, exp }) => iat <= began && began < exp));
  if (holding.length >= slots) {
    const told = held.map((spans) => spans.map(({ iat, exp }) => `${iat} to ${exp}`).join(' and '));
    violations.push(`a machine was admitted at ${began}, and certificates hold from ${told.join(', from ')}`);
  }
  return violations;
}

const stillLent = 'm.offline_until > clock_timestamp()';

interface Extent {
  readonly licenses: number;
  readonly renewals: number;
  readonly breaks: boolean;
  /** Replaces the condition that a slot is still leased. */
  readonly lent?: string;
}

async function run(setting: RunSetup, { licenses, renewals, breaks, lent }: Extent): Promise<Findings> {
  const dice = new Dice(setting.seed);
  const site = await openLicenseSite(setting.services);
  if (lent !== undefined) await redefine(site.owner, { view: 'licenses.held_machines' }, [stillLent, lent]);
  await site.makePlan({ name: 'lent', machines: slots, leaseSeconds });
  const sold = await site.issue('lent', licenses);
  const violations: string[] = [];
  const contestAll = async (): Promise<void> => {
    const outcomes = await Promise.all(sold.map((one) => contest(site, one, renewals)));
    violations.push(...outcomes.flat());
  };
  await (breaks ? site.whileBreaking(dice.another(), contestAll) : contestAll());
  return site.report(violations, { licenses, slots: licenses * slots });
}

const alone = { licenses: 1, renewals: 0, breaks: false };

export const licenseLeases = property<Extent>({
  name: 'license leases',
  leftTo: 'nx long',
  promise: 'A lent slot is free when its time is over, and no machine loses one earlier.',
  short: { licenses: 4, renewals: 1, breaks: true },
  long: { licenses: 20, renewals: 20, breaks: true },
  run,
  controls: [
    {
      name: 'a slot is held for ever',
      leftTo: 'the long form',
      extent: { ...alone, lent: 'm.offline_until is not null' },
    },
    {
      name: 'a slot is given away early',
      extent: { ...alone, lent: `m.offline_until > clock_timestamp() + interval '1.5 seconds'` },
    },
  ],
});

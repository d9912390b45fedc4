/** Many machines race for each license over HTTP. The control reads the license's row without locking it. */
import { type GuardRemoval, without } from '../guards.ts';
import { type LicenseSite, openLicenseSite } from '../license-site.ts';
import { countOf } from '../services.ts';
import { property, type Findings, type RunSetup } from '../property.ts';

interface Extent {
  readonly licenses: number;
  readonly machines: number;
  /** The number of activations per license, by all machines together. */
  readonly activations: number;
}

/** The numbers of machine slots. Half of the licenses have one, the others have three. */
const slotCounts = [1, 3];
/** The number of activations that wait for a license's lock before one of them gets it. */
const meeting = 3;

/**
 * Returns the number of machines that got the license, and violations for answers that a race cannot cause.
 */
async function raceFor(
  site: LicenseSite,
  licenseKey: string,
  { machines, activations }: Extent,
): Promise<[number, string[]]> {
  const winners = new Set<string>();
  const odd: string[] = [];
  const activateOnce = async (machine: string): Promise<void> => {
    const { status, json } = await site.activate(licenseKey, machine);
    if (status === 200) winners.add(machine);
    else if (status !== 409) odd.push(`a machine was answered ${status}: ${JSON.stringify(json)}`);
  };
  const all = Array.from(
    { length: activations },
    (_, index) => () => activateOnce(`machine-${index % machines}`),
  );
  await site.together('select from licenses.licenses for update', [], all, meeting);
  return [winners.size, odd];
}

async function run(setting: RunSetup, extent: Extent, removals: readonly GuardRemoval[]): Promise<Findings> {
  const site = await openLicenseSite(setting.services, removals);
  const violations: string[] = [];
  let wanted = 0;
  for (const slots of slotCounts) {
    const plan = `slots-${slots}`;
    await site.makePlan({ name: plan, machines: slots });
    for (const { id, key } of await site.issue(plan, extent.licenses / slotCounts.length)) {
      const [winners, odd] = await raceFor(site, key, extent);
      violations.push(...odd);
      wanted += slots;
      if (winners !== slots)
        violations.push(`license ${id}: ${winners} machines were let in, and it has ${slots} slots`);
    }
  }
  const bound = await countOf(site.owner, `licenses.license_events where kind = 'activated'`);
  if (bound !== wanted) violations.push(`${wanted} slots were bound ${bound} times`);
  const { licenses, machines, activations } = extent;
  return site.report(violations, { licenses, activations: licenses * activations, machines });
}

export const licenseRace = property<Extent>({
  name: 'license race',
  promise: 'If many machines activate the same license at once, exactly as many get it as it has slots.',
  short: { licenses: 12, machines: 8, activations: 16 },
  long: { licenses: 200, machines: 25, activations: 50 },
  run,
  controls: [
    {
      name: 'the row is read without a lock',
      leftTo: 'nx long',
      without: [without('the license is locked')],
    },
  ],
});

/**
 * Machines activate and release licenses while operators transfer, release and revoke them. Scenes force
 * particular calls to collide. A second part makes random calls while the service is killed and its
 * connections break. The license events are then checked.
 */
import { Dice } from '@muster/tools';
import { type GuardRemoval, without } from '../guards.ts';
import { type LicenseSite, openLicenseSite, type Sold } from '../license-site.ts';
import { property, type Findings, type RunSetup } from '../property.ts';

const held = 'select from licenses.licenses where id = $1 for no key update';
const machines = ['machine-a-000001', 'machine-b-000002', 'machine-c-000003', 'machine-d-000004'] as const;
const budget = 2;
const slots = 2;

/**
 * Holds a license's row so that a revocation is first in the queue and activations wait behind it. All of
 * them must be refused.
 */
async function revokedFirst(site: LicenseSite, { id, key }: Sold): Promise<string[]> {
  const [revoked, ...activated] = await site.together(
    held,
    [id],
    [
      () => site.operate('licenses/revoke', { id }),
      ...machines.map((machine) => () => site.activate(key, machine)),
    ],
  );
  const late = activated.filter(({ status }) => status !== 403).map(({ status }) => status);
  if (revoked?.status !== 200) return [`a revocation was answered ${revoked?.status}`];
  return late.length === 0 ? [] : [`after a revocation machines were answered ${late.join(', ')}`];
}

/**
 * Releases all machines of a license at the same time. The plan's transfer limit decides how many succeed.
 */
async function budgetOnce(site: LicenseSite, { id, key }: Sold): Promise<string[]> {
  for (const machine of machines) await site.activate(key, machine);
  const answers = await site.together(
    held,
    [id],
    machines.map((machineId) => () => site.post('/api/activate/release', { licenseKey: key, machineId })),
  );
  const given = answers.filter(({ status }) => status === 200).length;
  return given === budget
    ? []
    : [`${given} machines gave a license up that may be moved ${budget} times: ${id}`];
}

/**
 * Queues a transfer, an activation by another machine, a release by the old machine, and an activation by the
 * new one. The new machine must have the license.
 */
async function movedOnce(site: LicenseSite, { id, key }: Sold): Promise<string[]> {
  const [from, to, other] = machines;
  await site.activate(key, from);
  const answers = await site.together(
    held,
    [id],
    [
      () => site.operate('licenses/transfer', { id, machineId: to }),
      () => site.activate(key, other),
      () => site.post('/api/activate/release', { licenseKey: key, machineId: from }),
      () => site.activate(key, to),
    ],
  );
  const statuses = answers.map(({ status }) => status).join(' ');
  return statuses === '200 409 409 200' ? [] : [`a transfer among others ended ${statuses}`];
}

/**
 * Makes random calls on any of the licenses, with one worker per machine. Each worker waits for an answer
 * before its next call.
 */
async function crowd(site: LicenseSite, dice: Dice, sold: readonly Sold[], steps: number): Promise<string[]> {
  const violations: string[] = [];
  const revoked = new Set<string>();
  const member = async (machine: string, mine: Dice): Promise<void> => {
    for (let step = 0; step < steps; step += 1) {
      const { id, key } = mine.pick(sold);
      const wasRevoked = revoked.has(id);
      const chance = mine.next();
      if (chance < 0.5) {
        const { status } = await site.activate(key, machine);
        if (wasRevoked && status !== 403)
          violations.push(`a license that was revoked before was answered ${status}`);
      } else if (chance < 0.75) {
        await site.post('/api/activate/release', { licenseKey: key, machineId: machine });
      } else if (chance < 0.86) {
        await site.operate('licenses/release', { id, all: true });
      } else if (chance < 0.97) {
        await site.operate('licenses/transfer', { id, machineId: mine.pick(machines), slot: 1, force: true });
      } else {
        await site.operate('licenses/revoke', { id });
        revoked.add(id);
      }
    }
  };
  await Promise.all(machines.map((machine) => member(machine, dice.another())));
  return violations;
}

/**
 * Reports licenses whose events are impossible. Events are ordered by their epoch. At an equal epoch, an
 * activation comes after a release or transfer.
 */
async function auditProblems(site: LicenseSite): Promise<string[]> {
  const { rows } = await site.owner.query<{ id: string; kinds: string[]; limit: number; held: number }>(
    `select l.id, l.machine_limit as limit,
       (select count(*)::int from licenses.held_machines h where h.license_id = l.id) as held,
       array(select e.kind from licenses.license_events e where e.license_id = l.id
         and e.kind in ('activated', 'released', 'transferred') order by e.epoch, e.kind = 'activated') as kinds
     from licenses.licenses l`,
  );
  return rows.flatMap(({ id, kinds, limit, held: now }) => {
    let holding = 0;
    let most = 0;
    let least = 0;
    for (const kind of kinds) {
      holding += kind === 'activated' ? 1 : kind === 'released' ? -1 : 0;
      most = Math.max(most, holding);
      least = Math.min(least, holding);
    }
    return least < 0 || most > limit || holding !== now
      ? [
          `license ${id} has ${limit} slots, ${now} machines, and by its trail from ${least} to ${most}, then ${holding}`,
        ]
      : [];
  });
}

type Scene = (site: LicenseSite, sold: Sold) => Promise<string[]>;
/** The scenes, each with the plan that its license needs. */
const allScenes: readonly (readonly [string, Scene])[] = [
  ['one', revokedFirst],
  ['moved', budgetOnce],
  ['one', movedOnce],
];

interface Extent {
  readonly scenes: typeof allScenes;
  /** The number of licenses per scene. */
  readonly times: number;
  /**
   * `licenses` is the number of licenses on which random calls are made. `steps` is the number of random
   * calls per machine.
   */
  readonly licenses: number;
  readonly steps: number;
}

async function run(setting: RunSetup, extent: Extent, removals: readonly GuardRemoval[]): Promise<Findings> {
  const { scenes, times, licenses, steps } = extent;
  const dice = new Dice(setting.seed);
  const site = await openLicenseSite(setting.services, removals);
  await site.makePlan({ name: 'one' });
  await site.makePlan({ name: 'moved', machines: machines.length, transfers: budget });
  await site.makePlan({ name: 'crowd', machines: slots });
  const violations: string[] = [];
  for (const [plan, scene] of scenes) {
    for (const sold of await site.issue(plan, times)) violations.push(...(await scene(site, sold)));
  }
  if (licenses > 0) {
    const sold = await site.issue('crowd', licenses);
    await site.whileBreaking(dice.another(), async () => {
      violations.push(...(await crowd(site, dice, sold, steps)));
    });
  }
  violations.push(...(await auditProblems(site)));
  return site.report(violations, { scenes: times * scenes.length, steps: steps * machines.length });
}

export const licenseChanges = property<Extent>({
  name: 'license changes',
  promise:
    'While licenses are transferred, released and revoked, no machine is let in that must not be, and the trail records what was done.',
  short: { scenes: allScenes, times: 1, licenses: 4, steps: 12 },
  long: { scenes: allScenes, times: 50, licenses: 24, steps: 150 },
  run,
  controls: [
    {
      name: 'a machine reads the license without a lock',
      leftTo: 'nx long',
      extent: { scenes: [['moved', budgetOnce]], times: 1, licenses: 0, steps: 0 },
      without: [without('the license is locked')],
    },
  ],
});

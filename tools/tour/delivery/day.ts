import { setTimeout as pause } from 'node:timers/promises';
import { tally } from '../attempts.ts';
import { check, type Check } from '../check.ts';
import { type Instance } from '../instance.ts';
import { Outing } from '../outing.ts';
import { group } from './steps/group.ts';
import { killed } from './steps/killed.ts';
import { reach } from './steps/reach.ts';
import { checkDeliveryTrail } from './trail.ts';
import { beginWork, type DeliveryStep, type Work } from './work.ts';

const day: readonly DeliveryStep[] = [reach, killed, group];

/** Kills what the instance stands on until it is told to end; answers what it did. */
export type BeginFaults = () => { end(): Promise<string> };

/** So many teams have the same day while parts are killed: each outage then meets somebody at work. */
const teamsInFaults = 8;
const betweenTeamsMillis = 2_000;

/** Two agents and a person share the work on one board. Many teams have the same day where parts are killed. */
export async function spendDeliveryDay(
  instance: Instance,
  orgSlug: string,
  beginFaults?: BeginFaults,
): Promise<readonly Check[]> {
  const outing = new Outing();
  const isFragile = beginFaults !== undefined;
  const slugs = isFragile
    ? Array.from({ length: teamsInFaults }, (_, index) => `${orgSlug}-${index + 1}`)
    : [orgSlug];
  const works = await Promise.all(slugs.map((slug) => beginWork(instance, slug, isFragile)));
  const trail: Check[] = [];
  if (isFragile) await spendInFaults(works, outing, beginFaults);
  else for (const work of works) await goThrough(work, outing);
  const read = async (): Promise<string> => {
    trail.push(...(await Promise.all(works.map(checkDeliveryTrail))).flat());
    return `${works.reduce((sum, { deeds }) => sum + deeds.size, 0)} executions`;
  };
  await outing.step('All is read back', read, ...works.map(({ journal }) => journal));
  return [outing.broken, ...united([...works.flatMap(({ checks }) => checks), ...trail])];
}

async function goThrough(work: Work, outing: Outing, whose = ''): Promise<void> {
  for (const { name, run } of day) await outing.step(`${whose}${name}`, () => run(work), work.journal);
}

/** One after the other they begin, so that an outage meets somebody at each part of the day. */
async function spendInFaults(
  works: readonly Work[],
  outing: Outing,
  beginFaults: BeginFaults,
): Promise<void> {
  const faults = beginFaults();
  let line = 'nothing';
  try {
    await Promise.all(
      works.map(async (work, index) => {
        await pause(index * betweenTeamsMillis);
        await goThrough(work, outing, `${index + 1}: `);
      }),
    );
  } finally {
    line = await faults.end();
  }
  await outing.step('What was killed is up again', () => Promise.resolve(line));
}

/** What was checked of each team, as one check of all. */
function united(checks: readonly Check[]): Check[] {
  const all = new Map<string, Check[]>();
  for (const one of checks) all.set(one.name, [...(all.get(one.name) ?? []), one]);
  return [...all].map(([name, ofAll]) => {
    const [first] = ofAll;
    if (first !== undefined && ofAll.length === 1) return first;
    return check(name, (found) => {
      for (const problem of ofAll.flatMap(({ problems }) => problems)) found.fail(problem);
      return tally(ofAll.map(({ detail }) => detail));
    });
  });
}

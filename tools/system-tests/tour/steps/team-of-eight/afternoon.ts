import { randomBytes } from 'node:crypto';
import { type Check } from '../../check.ts';
import { type Instance } from '../../instance.ts';
import { type JournaledCall } from '../../journal.ts';
import { type Outing } from '../../outing.ts';
import { type EightStep, foundEight } from './eight.ts';
import { inboxes } from './inboxes.ts';
import { joining } from './joining.ts';
import { projects } from './projects.ts';
import { reviews } from './reviews.ts';
import { seats } from './seats.ts';

const afternoon: readonly EightStep[] = [joining, seats, projects, reviews, inboxes];

/** Eight people create an organization and work in it according to their roles. */
export async function runAfternoon(
  instance: Instance,
  outing: Outing,
): Promise<{ readonly checks: readonly Check[]; readonly calls: readonly JournaledCall[] }> {
  const eight = await foundEight(instance, `eight-${randomBytes(4).toString('hex')}`);
  for (const { name, run } of afternoon) await outing.step(name, () => run(eight), eight.journal);
  return { checks: eight.checks, calls: eight.journal.calls };
}

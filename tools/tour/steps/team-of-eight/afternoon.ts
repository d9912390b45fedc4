import { randomBytes } from 'node:crypto';
import { type Check } from '../../check.ts';
import { audited } from '../../checks/trail.ts';
import { type Instance } from '../../instance.ts';
import { type Call, type Journal } from '../../journal.ts';
import { allPages, from } from '../../pages.ts';
import { type Eight, type EightStep, foundEight, person } from './eight.ts';
import { inboxes } from './inboxes.ts';
import { joining } from './joining.ts';
import { projects } from './projects.ts';
import { reviews } from './reviews.ts';
import { seats } from './seats.ts';

const afternoon: readonly EightStep[] = [joining, seats, projects, reviews, inboxes];

/** How the tour goes through a step, with the journal that its calls are written in. */
export type GoThrough = (name: string, work: () => Promise<string>, journal: Journal) => Promise<void>;

/** Eight people found an organization of their own, and work in it by their roles. */
export async function spendAfternoon(
  instance: Instance,
  goThrough: GoThrough,
): Promise<{ readonly checks: readonly Check[]; readonly calls: readonly Call[] }> {
  const eight = await foundEight(instance, `eight-${randomBytes(4).toString('hex')}`);
  for (const { name, run } of afternoon) await goThrough(name, () => run(eight), eight.journal);
  await goThrough('Their trail is read', () => readTrail(eight), eight.journal);
  return { checks: eight.checks, calls: eight.journal.calls };
}

async function readTrail(eight: Eight): Promise<string> {
  const { journal, operatorActs, accepted, checks } = eight;
  const { api } = person(eight, 'Hanna');
  const audit = await allPages((cursor) => api.audit.list({ limit: 200, ...from(cursor) }));
  // Whoever comes in has no token yet, so this is in no journal.
  const entrances = audit.filter(({ operation }) => operation === 'invitations.accept');
  const others = audit.filter((entry) => !entrances.includes(entry));
  const found = audited(journal.writes(), journal.calls, operatorActs, { audit: others }, 'their audit');
  found.same(entrances.length, accepted, 'the number of entries of those who came in');
  found.detail += `, ${accepted} came in`;
  checks.push(found);
  return `${audit.length} audit entries`;
}

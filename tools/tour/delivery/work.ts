import { retrying } from '@muster/client';
import { type Execution, type ExecutionTarget, type Signal } from '@muster/registry';
import { type Check } from '../check.ts';
import { type Instance } from '../instance.ts';
import { Journal } from '../journal.ts';
import { foundTeam, type Team, type Teammate } from '../team.ts';

/** What a day of deliveries works on, and what it knows of it. */
export interface Work {
  readonly instance: Instance;
  readonly journal: Journal;
  readonly team: Team;
  readonly projectId: string;
  /** Keys of the stories, as people say them. */
  readonly stories: readonly string[];
  /** By execution, how often each kind of deed was acknowledged. */
  readonly deeds: Map<string, Map<string, number>>;
  /** Begin of the request ids of processes that call by themselves → the execution they work on. */
  readonly processes: Map<string, string>;
  readonly followers: EventsFollower[];
  readonly checks: Check[];
  /** Whether what it stands on is killed all the while. */
  readonly isFragile: boolean;
}

/** Whoever follows the events of an execution while they happen. */
export interface EventsFollower {
  readonly executionId: string;
  finish(): Promise<readonly number[]>;
}

/** Part of the day. `run` answers a line that says what happened. */
export interface DeliveryStep {
  readonly name: string;
  readonly run: (work: Work) => Promise<string>;
}

const storyTitles = [
  'Charge the card when the parcel leaves',
  'Show the drivers their next stop',
  'Retry a webhook that failed',
  'Round fares to the cent',
  'Import depots from a sheet',
  'Move the fares to a module of their own',
  'Read fares through the module',
  'Drop the old table of fares',
];

/** An organization with a board of its own. What comes in an outage is tried again until it is over. */
export async function beginWork(instance: Instance, orgSlug: string, isFragile: boolean): Promise<Work> {
  const journal = new Journal(instance.baseUrl, orgSlug, (bare) => retrying(bare, { forSeconds: 120 }));
  const team = await foundTeam(instance, journal, orgSlug);
  const { ana } = team;
  const { project } = await ana.api.projects.create({ key: 'FARE', name: 'Fares and parcels' });
  await ana.api.policy.update({ requireMergeProof: true, completeStoryOnMerge: true });
  const stories: string[] = [];
  for (const title of storyTitles) {
    const { story } = await ana.api.stories.create({ projectId: project.id, title, status: 'ready' });
    await ana.api.storySpec.update({ storyId: story.id, content: `# ${title}\n\nAs it says.\n` });
    stories.push(story.key);
  }
  return {
    ...{ instance, journal, team, stories, isFragile, projectId: project.id },
    ...{ deeds: new Map(), processes: new Map(), followers: [], checks: [] },
  };
}

/** The story's key; the titles above are in this order. */
export function storyAt({ stories }: Work, index: number): string {
  const key = stories[index];
  if (key === undefined) throw new Error(`there is no story ${index}`);
  return key;
}

export function noteDeed({ deeds }: Work, executionId: string, kind: string, times = 1): void {
  const counts = deeds.get(executionId) ?? new Map<string, number>();
  deeds.set(executionId, counts.set(kind, (counts.get(kind) ?? 0) + times));
}

/** A lease as its holder has it. */
export interface Held {
  readonly who: Teammate;
  readonly executionId: string;
  readonly leaseToken: string;
  readonly execution: Execution;
  readonly resumed: boolean;
}

interface Acquire {
  readonly runId: string;
  readonly ttlSeconds?: number;
  readonly start?: boolean;
}

/** Acquires by a new grant, which the execution's stream must show once. */
export async function acquire(
  work: Work,
  who: Teammate,
  targetType: ExecutionTarget,
  targetId: string,
  options: Acquire,
): Promise<Held> {
  const { execution, leaseToken, resumed } = await who.api.deliveryExecutions.acquire({
    ...{ targetType, targetId, ttlSeconds: 600, ...options },
  });
  noteDeed(work, execution.id, 'acquired');
  return { who, executionId: execution.id, leaseToken, execution, resumed };
}

const grip = ({ executionId, leaseToken }: Held) => ({ executionId, leaseToken });

/** Answers the signals that came with it. */
export async function checkpoint(work: Work, held: Held, summary: string): Promise<Signal[]> {
  const { signals } = await held.who.api.deliveryExecutions.checkpoint({ ...grip(held), summary });
  noteDeed(work, held.executionId, 'checkpointed');
  return signals;
}

export async function handOff(
  work: Work,
  held: Held,
  to: { readonly toMemberId: string } | { readonly toAgentId: string },
  note: string,
): Promise<void> {
  await held.who.api.deliveryExecutions.handoff({ ...grip(held), ...to, note });
  noteDeed(work, held.executionId, 'offered');
}

export async function release(work: Work, held: Held, reason: string): Promise<void> {
  await held.who.api.deliveryExecutions.release({ ...grip(held), reason });
  noteDeed(work, held.executionId, 'released');
}

/** Hands the work in with a pull request; what the forge sees decides. */
export async function submit(work: Work, held: Held, number: number): Promise<Execution> {
  const pullRequest = { number, url: `https://forge.example/fares/pull/${number}` };
  const { execution } = await held.who.api.deliveryExecutions.complete({
    ...{ ...grip(held), outcome: 'submitted', pullRequest },
  });
  noteDeed(work, held.executionId, 'submitted');
  return execution;
}

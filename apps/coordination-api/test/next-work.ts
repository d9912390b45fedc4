/** Parts that the specs of acquireNext share: the project WEB, and calls of its people. */
import { type InputOf, type ResultOf } from '@muster/contract';
import { type registry } from '@muster/registry';
import { type AllHandlers } from '@muster/operations';
import { type People, type Person } from '@muster/testing';
import { type useApi } from './api.ts';

type AcquireNext = typeof registry.deliveryExecutions.acquireNext;
export type NextWorkParams = Partial<InputOf<AcquireNext>>;
export type NewStory = Partial<InputOf<typeof registry.stories.create>>;
export type NextWork = ResultOf<AcquireNext>;

/** Creates an organization with the project WEB. */
export async function createWebProject(api: ReturnType<typeof useApi>): Promise<People<AllHandlers>> {
  const people = await api.org();
  await people.ana.projects.create({ key: 'WEB', name: 'Web' });
  return people;
}

/** Creates a story in WEB, which is ready by default. Returns its id. */
export const createReadyStory = async ({ ana }: People<AllHandlers>, draft: NewStory = {}): Promise<string> =>
  (await ana.stories.create({ projectId: 'WEB', title: 'A story', status: 'ready', ...draft })).story.id;

export const acquireNext = (who: Person<AllHandlers>, asked: NextWorkParams = {}): Promise<NextWork> =>
  who.deliveryExecutions.acquireNext({ projectId: 'WEB', ...asked });

export const acquire = (who: Person<AllHandlers>, storyId: string) =>
  who.deliveryExecutions.acquire({ targetType: 'story', targetId: storyId, start: true });

export const heldOf = ({ execution, leaseToken }: Pick<NextWork, 'execution' | 'leaseToken'>) => ({
  executionId: execution?.id ?? '',
  leaseToken: leaseToken ?? '',
});

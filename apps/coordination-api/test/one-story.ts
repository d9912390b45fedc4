/** The smallest board that agents can work on, with one ready story, and helpers for leases and runs. */
import { type AllHandlers } from '@muster/operations';
import { type People, type Person } from '@muster/testing';
import { type TestApi } from './api.ts';

/** The story, as leases name it. */
export const target = { targetType: 'story', targetId: 'WEB-1' } as const;
/** A run on the story. */
export const runRef = { projectId: 'WEB', runId: 'run-1' } as const;

export async function createOrgWithStory(api: TestApi): Promise<People<AllHandlers>> {
  const people = await api.org();
  await people.ana.projects.create({ key: 'WEB', name: 'Web' });
  await people.ana.stories.create({ projectId: 'WEB', title: 'A story', status: 'ready' });
  return people;
}

export const activeRuns = async (
  who: Person<AllHandlers>,
  filter: { projectId?: string; agentId?: string } = {},
) => (await who.agents.listActive(filter)).items;

/** Expires all leases of an organization, by default one second ago. */
export const expireLeases = ({ world }: TestApi, orgId: string, secondsAgo = 1) =>
  world.rows(
    `update leases set expires_at = now() - make_interval(secs => $2::int) where org_id = $1`,
    orgId,
    secondsAgo,
  );

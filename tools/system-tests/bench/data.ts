import { type Client, createClient, httpTransport } from '@muster/client';
import { type Pool } from '@muster/driver';
import { createOrganization, createToken } from '@muster/organizations';
import { type ColumnStatus } from '@muster/contract';

/** A project of the benchmark, with the IDs that requests need. */
export interface BenchProject {
  readonly projectId: string;
  readonly storyIds: readonly string[];
  /** The stories that began in the backlog. */
  readonly backlogIds: readonly string[];
  /** The first column of each status. */
  readonly columnIds: Readonly<Record<ColumnStatus, string>>;
}

/** An organization with a member who works in it. */
export interface BenchOrg {
  readonly orgId: string;
  readonly token: string;
  readonly actor: {
    readonly kind: 'member';
    readonly memberId: string;
    readonly agentId: null;
    readonly name: string;
  };
  /** A project without writes, so that lists always have the same rows. */
  readonly still: BenchProject;
  readonly busy: readonly BenchProject[];
  /** A project whose work is only acquired by rank, so that nobody else holds it. */
  readonly queue: BenchProject;
}

/**
 * The number of stories in each column. Together they are a typical board of 200 stories in the middle of its
 * life.
 */
const shares: readonly (readonly [ColumnStatus, number])[] = [
  ['backlog', 90],
  ['ready', 40],
  ['in_progress', 25],
  ['in_review', 15],
  ['done', 30],
];
export const storiesPerProject = shares.reduce((sum, [, count]) => sum + count, 0);

const labels = ['backend', 'frontend', 'bug', 'mobile', 'security', 'ux', 'data', 'ops'] as const;

/** Returns a description of about the length that is usual in trackers of open-source projects. */
export const description = (subject: string): string =>
  `When ${subject} is opened on a slow connection, the second request overtakes the first and the older answer stays ` +
  `on the screen. Seen with three customers since the last release; the log shows both requests with one trace id.\n\n` +
  `- Expected: the newest answer is shown, whatever the order of arrival.\n- Actual: the last one to arrive is.\n\n` +
  `Reproduce: throttle to 3G, open, filter, take the filter back within a second. A fix on the client is enough, but ` +
  `the server should say which request an answer belongs to, so that others do not fall into the same trap.`;

export const titleOf = (index: number): string => `The ${index}th answer must not overtake the one before it`;

const storiesOf = (count: number) =>
  shares.flatMap(([status, share]) =>
    Array.from({ length: Math.round((share * count) / storiesPerProject) }, (_, index) => ({
      localId: `${status}-${index}`,
      title: titleOf(index),
      description: description(`list ${index}`),
      status,
      epicLocalId: `e${index % 5}`,
      priority: (['none', 'low', 'medium', 'high', 'urgent'] as const)[index % 5] ?? 'none',
      labels: labels.filter((_label, place) => (index + place) % 3 === 0),
      estimate: index % 13,
    })),
  );

/** Imports a project through the API, as a customer does. */
async function makeProject(api: Client, key: string): Promise<BenchProject> {
  const { project, mapping } = await api.projects.convertLocal({
    ...{ localProjectId: `bench/${key}`, key, name: `Project ${key}` },
    epics: Array.from({ length: 5 }, (_, index) => ({ localId: `e${index}`, title: `Epic ${index}` })),
    stories: storiesOf(storiesPerProject),
  });
  const { items } = await api.boardColumns.list({ projectId: project.id });
  const idOf = (status: ColumnStatus): string => {
    const column = items.find((candidate) => candidate.status === status);
    if (column === undefined) throw new Error(`a new board has no column for ${status}`);
    return column.id;
  };
  return {
    projectId: project.id,
    storyIds: Object.values(mapping.stories),
    backlogIds: Object.entries(mapping.stories).flatMap(([localId, id]) =>
      localId.startsWith('backlog-') ? [id] : [],
    ),
    columnIds: {
      backlog: idOf('backlog'),
      ready: idOf('ready'),
      in_progress: idOf('in_progress'),
      in_review: idOf('in_review'),
      done: idOf('done'),
    },
  };
}

/** Creates an organization and its owner, as operators do. */
export async function foundOrg(owner: Pool, slug: string, scope: 'write' | 'admin' = 'admin') {
  const email = `ana@${slug}.example`;
  const { org, owner: member } = await createOrganization(owner, {
    ...{ name: slug, slug, plan: 'enterprise' },
    owner: { email, name: 'Ana' },
  });
  const { token } = await createToken(owner, { org: slug, member: email, name: 'bench', scopes: [scope] });
  return { orgId: org.id, memberId: member.id, token };
}

/** Creates an organization and fills it with projects of 200 stories each. */
export async function makeOrg(
  owner: Pool,
  baseUrl: string,
  slug: string,
  busyProjects: number,
  scope: 'write' | 'admin' = 'write',
): Promise<BenchOrg> {
  const { orgId, memberId, token } = await foundOrg(owner, slug, scope);
  const api = createClient(httpTransport({ baseUrl, token }));
  const busy: BenchProject[] = [];
  for (let index = 0; index < busyProjects; index += 1) busy.push(await makeProject(api, `BUSY${index}`));
  return {
    ...{ orgId, token, busy },
    actor: { kind: 'member', memberId, agentId: null, name: 'Ana' },
    still: await makeProject(api, 'STILL'),
    queue: await makeProject(api, 'QUEUE'),
  };
}

/** Creates `count` organizations, one after the other: `name-0`, `name-1` … */
export async function makeOrgs(
  owner: Pool,
  baseUrl: string,
  name: string,
  { count, projects }: { readonly count: number; readonly projects: number },
): Promise<BenchOrg[]> {
  const orgs: BenchOrg[] = [];
  for (let index = 0; index < count; index += 1)
    orgs.push(await makeOrg(owner, baseUrl, `${name}-${index}`, projects));
  return orgs;
}

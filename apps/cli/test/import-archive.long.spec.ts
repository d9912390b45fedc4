/**
 * `muster import <archive>`: random projects that one installation exports are the same in another one, in every list.
 * ARCHIVED_STORIES adds a project with that many stories.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { type People } from '@muster/testing';
import { exportArchive } from './export-archive.ts';
import { openForwarder } from './forwarder.ts';
import { useMuster } from './muster.ts';

const source = useMuster();
const target = useMuster();
const bulkCount = Number(process.env['ARCHIVED_STORIES'] ?? 0);

let original: People;
let people: People;
let archive = '';

/** Returns pseudo-random numbers below a limit, the same in each run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** The number of files of the first story. */
const attachedCount = 20;
/** The number of the first stories, which can be parents. */
const roots = 3;

const statuses = ['backlog', 'ready', 'in_progress', 'in_review', 'done', 'canceled'] as const;
const priorities = ['none', 'low', 'medium', 'high', 'urgent'] as const;

/** Fills a project with stories of every kind. */
async function fillProject(random: (below: number) => number, key: string, count: number): Promise<void> {
  const clients = [original.ana, original.ben, original.chloe].map((person) => source.apiClient(person));
  const [ana] = clients as [Client];
  const anyone = (): Client => clients[random(clients.length)] ?? ana;
  const members = [original.ana, original.ben, original.chloe].map(({ me }) => me.memberId);
  const member = () => members[random(members.length)] ?? '';
  const agentId = original.robo.me.agentId;
  await ana.projects.create({ key, name: `Project ${key}`, description: 'Of old', columns: undefined });
  const { column } = await ana.boardColumns.create({
    projectId: key,
    name: 'Testing',
    status: 'in_review',
    wipLimit: 9,
  });
  await ana.projects.members.add({ projectId: key, memberId: members[1] ?? '', role: 'lead' });
  const epics: string[] = [];
  for (let index = 0; index < 3; index += 1) {
    const { epic } = await anyone().epics.create({
      projectId: key,
      title: `Epic ${index}`,
      description: 'Why',
    });
    epics.push(epic.id);
  }
  await ana.assignments.set({ targetType: 'epic', targetId: epics[0] ?? '', memberId: member() });
  const made: string[] = [];
  const other = () => made[random(made.length)] ?? '';
  for (let index = 0; index < count; index += 1) {
    const hasParent = index >= roots && random(4) === 0;
    const { story } = await anyone().stories.create({
      ...{
        projectId: key,
        title: `Story ${index} ünï`,
      },
      ...(random(2) === 0 && { description: `Text ${index}\n` }),
      ...{ priority: priorities[random(5)], labels: random(2) === 0 ? ['bug', `l${random(9)}`] : [] },
      ...{ touches: random(3) === 0 ? [`src/${random(9)}/**`] : [], estimate: random(9) },
      ...(random(3) === 0 && { epicId: epics[random(3)] }),
      ...(random(3) === 0 && { dueDate: '2027-03-04' }),
      ...(hasParent && { parentId: made[random(roots)] }),
      ...(!hasParent && index > roots && random(3) === 0 && { blockedBy: [other()] }),
      ...(random(2) === 0 && { spec: `# Spec ${index}` }),
    });
    made.push(story.id);
    const storyId = story.id;
    if (random(5) === 0) await anyone().storySpec.update({ storyId, content: `New ${index}\n`, note: 'Why' });
    if (random(4) === 0) await ana.stories.updateStatus({ storyId, status: statuses[random(6)] ?? 'ready' });
    if (random(9) === 0) await ana.stories.reorder({ storyId, columnId: column.id }).catch(() => undefined);
    if (random(6) === 0)
      await anyone().stories.updateGitMeta({
        storyId,
        git: { branch: `b${index}`, headSha: `abc${1000 + index}` },
      });
    if (random(8) === 0)
      await anyone().stories.updateUpstream({
        storyId,
        upstream: { provider: 'jira', externalId: `OPS-${index}` },
      });
    if (random(3) === 0) {
      const { comment } = await anyone().comments.create({
        storyId,
        body: `Hm ${index} @ben`,
        kind: 'question',
      });
      await source.apiClient(original.robo).comments.create({ storyId, body: 'So', parentId: comment.id });
      await anyone().comments.react({ commentId: comment.id, emoji: '👍' });
      if (random(2) === 0) await anyone().comments.resolve({ commentId: comment.id });
      if (random(4) === 0) await ana.comments.delete({ commentId: comment.id });
    }
    if (random(3) === 0)
      await ana.assignments.set({ targetType: 'story', targetId: storyId, memberId: member(), agentId });
    if (random(4) === 0) {
      await ana.reviewers.add({ storyId, memberId: members[1] ?? '' });
      if (random(2) === 0)
        await source.apiClient(original.ben).reviewers.setVerdict({
          ...{ storyId, verdict: random(2) === 0 ? 'approved' : 'changes_requested', note: 'Seen' },
        });
      if (random(3) === 0) await anyone().storySpec.update({ storyId, content: `Later ${index}` });
    }
    if (index % 20 === 0) await attach(ana, storyId, `log ${index}`);
    if (index >= roots && random(15) === 0) {
      made.pop();
      await ana.stories.delete({ storyId });
    }
  }
  for (let index = 0; index < random(4); index += 1)
    await ana.prompts.project.upsert({
      projectId: key,
      slug: `p-${index}`,
      title: 'Do',
      body: `${index}`,
    });
  for (let version = 0; version < random(4); version += 1)
    await anyone().contracts.publish({
      projectId: key,
      slug: 'users',
      kind: 'markdown',
      content: `v${version}`,
    });
  await ana.views.create({
    ...{ projectId: key, name: 'Mine', layout: 'list', shared: true, filter: { epicId: epics[1] } },
  });
}

/** Adds teams with roles in the projects, agents, and prompts and views of the organization. */
async function fillOrganization(random: (below: number) => number): Promise<void> {
  const ana = source.apiClient(original.ana);
  const people = [original.ana, original.ben, original.chloe, original.dan];
  for (let index = 0; index < 6; index += 1) {
    const { team } = await ana.teams.create({ name: `Team ${index}`, description: `Why ${index}` });
    for (const { me } of people)
      if (random(2) === 0)
        await ana.teams.members.add({
          ...{ teamId: team.id, memberId: me.memberId },
          role: me === original.dan.me || random(3) > 0 ? 'member' : 'lead',
        });
    if (random(3) === 0) await ana.teams.update({ teamId: team.id, description: 'Renamed' });
    for (const projectId of ['WEB', 'API'])
      if (random(2) === 0)
        await ana.projects.assignTeam({
          ...{ projectId, teamId: team.id },
          role: random(2) === 0 ? 'viewer' : 'contributor',
        });
  }
  for (const person of [original.ben, original.chloe])
    for (let index = 0; index < random(4) + 1; index += 1) {
      const client = source.apiClient(person);
      const { agent } = await client.agents.create({
        name: `Agent ${index} of ${person.me.memberId.slice(-2)}`,
      });
      if (random(3) === 0) await client.agents.retire({ agentId: agent.id });
    }
  for (let index = 0; index < random(4) + 2; index += 1) {
    await ana.prompts.org.upsert({ slug: `all-${index}`, title: `All ${index}`, body: `${index}` });
    if (random(2) === 0)
      await ana.prompts.org.upsert({ slug: `all-${index}`, title: `All ${index}`, body: 'Changed' });
  }
  for (const projectId of ['WEB', 'API']) {
    const [epic] = (await ana.epics.list({ projectId })).items;
    await ana.views.create({
      ...{ name: 'Of an epic', layout: 'board', shared: true, filter: { epicId: epic?.id } },
    });
    await ana.views.create({ name: 'All', layout: 'table', shared: true, groupBy: 'project', filter: {} });
  }
}

/** Fills a project with many stories by an import from a tracker. */
async function fillInBulk(key: string, count: number): Promise<void> {
  const client = source.apiClient(original.ana);
  await client.projects.create({ key, name: `Project ${key}` });
  const { import: begun } = await client.imports.begin({ projectId: key, provider: 'jira', name: 'Bulk' });
  const itemOf = (index: number) => ({
    ...{
      externalId: `B-${index}`,
      title: `Story ${index}`,
      description: `Text ${index}`,
      spec: `# ${index}`,
    },
    ...{
      status: statuses[index % 6],
      labels: ['bug'],
      epic: { externalId: `E${index % 20}`, title: `Epic ${index % 20}` },
    },
    ...(index > 9 && index % 3 === 0 && { blockedBy: [`B-${index - 5}`] }),
    comments: [1, 2].map((number) => ({
      ...{ externalId: `${number}`, authorName: 'Ben', authorEmail: 'ben@example.com', body: `Hm ${number}` },
      at: new Date(1_700_000_000_000 + index * 1_000 + number).toISOString(),
    })),
  });
  for (let start = 0; start < count; start += 100)
    await client.imports.put({
      importId: begun.id,
      items: Array.from({ length: Math.min(100, count - start) }, (_, index) => itemOf(start + index)),
    });
  await client.imports.finish({ importId: begun.id });
}

async function attach(client: Client, storyId: string, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  const sha256 = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex');
  const { upload } = await client.attachments.create({
    ...{ targetType: 'story', targetId: storyId, name: 'run.log', contentType: 'text/plain', kind: 'log' },
    ...{ size: bytes.length, sha256 },
  });
  const { ok } = await fetch(upload.url, { method: 'PUT', headers: upload.headers, body: bytes });
  expect(ok).toBe(true);
}

/** Reads what every list of the projects answers. */
async function readLists(client: Client): Promise<unknown> {
  const projects = await Array.fromAsync(client.projects.list.all({ includeArchived: true }));
  // An archived project is archived again at the end of its import, which is a change of its own.
  const stamps = ({ archivedAt, ...project }: (typeof projects)[number]) =>
    archivedAt === null ? project : { ...project, updatedAt: '', version: 0, isArchived: true };
  const lists: unknown[] = projects.map(stamps);
  for (const { key: projectId } of projects) {
    const { project, ...board } = await client.projects.get({ projectId });
    lists.push(stamps(project), board);
    lists.push(await Array.fromAsync(client.projects.members.list.all({ projectId })));
    lists.push(await Array.fromAsync(client.projects.teams.list.all({ projectId })));
    lists.push(await Array.fromAsync(client.prompts.project.list.all({ projectId, effective: true })));
    lists.push(await Array.fromAsync(client.contracts.list.all({ projectId })));
    lists.push(await Array.fromAsync(client.boardColumns.list.all({ projectId, includeArchived: true })));
    lists.push(await Array.fromAsync(client.epics.list.all({ projectId })));
    for (const sort of ['created', 'board', 'updated'] as const)
      lists.push(await Array.fromAsync(client.stories.list.all({ projectId, sort })));
    lists.push(await Array.fromAsync(client.stories.list.all({ projectId, view: 'card' })));
    lists.push(await Array.fromAsync(client.assignments.listForProject.all({ projectId })));
    for await (const { id: storyId, specVersion } of client.stories.list.all({
      projectId,
      sort: 'created',
    })) {
      const { story } = await client.stories.get({ storyId });
      lists.push(story);
      if (specVersion > 0) {
        lists.push(await client.storySpec.get({ storyId }));
        lists.push(await Array.fromAsync(client.storySpec.history.all({ storyId })));
      }
      lists.push(await Array.fromAsync(client.comments.list.all({ storyId })));
      lists.push(await Array.fromAsync(client.reviewers.list.all({ storyId })));
      lists.push(
        await Array.fromAsync(client.attachments.list.all({ targetType: 'story', targetId: storyId })),
      );
    }
  }
  for await (const team of client.teams.list.all({})) {
    lists.push(team, await Array.fromAsync(client.teams.projects.list.all({ teamId: team.id })));
    lists.push(await Array.fromAsync(client.teams.members.list.all({ teamId: team.id })));
  }
  // Each world has an agent of its own, which has another time.
  const agents = await Array.fromAsync(client.agents.list.all({ includeRetired: true }));
  lists.push(agents.map((agent) => (agent.slug === 'robo' ? { ...agent, createdAt: '' } : agent)));
  lists.push(await Array.fromAsync(client.prompts.org.list.all({ includeBody: true })));
  lists.push(await Array.fromAsync(client.views.list.all({})));
  lists.push(await Array.fromAsync(client.stories.search.all({})));
  lists.push(await Array.fromAsync(client.reviewers.listForUser.all({})));
  lists.push(await Array.fromAsync(client.assignments.listForOrg.all({})));
  return lists;
}

const ignoredFields = new Set(['importedBy', 'importedFrom', 'downloadUrl']);

/** Replaces each id by the number of its first appearance, and leaves out the marks of imports. */
function withoutIds(value: unknown, numbers = new Map<string, number>()): unknown {
  if (typeof value === 'string') {
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)) return value;
    numbers.set(value, numbers.get(value) ?? numbers.size);
    return `id ${numbers.get(value)}`;
  }
  if (Array.isArray(value)) return value.map((item) => withoutIds(item, numbers));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !ignoredFields.has(name))
      .map(([name, field]) => [name, withoutIds(field, numbers)]),
  );
}

const run = (...args: string[]) =>
  target.run(['import', ...args], { cwd: target.home(), env: target.environmentOf(people.ana) });

beforeAll(async () => {
  original = await source.world.org();
  people = await target.world.org();
  const random = createRandom(7);
  await fillProject(random, 'WEB', 40);
  await fillProject(random, 'API', 10);
  await fillOrganization(random);
  if (bulkCount > 0) await fillInBulk('BULK', bulkCount);
  await source.apiClient(original.ana).projects.update({ projectId: 'API', archived: true });
  for (let index = 0; index < attachedCount; index += 1)
    await attach(source.apiClient(original.ana), 'WEB-1', `file ${index}`);
  archive = await exportArchive(source, original);
}, 600_000);

describe('muster import <archive>', () => {
  it('verifies the archive before it imports anything', async () => {
    const otherKeys = path.join(target.home(), 'keys.json');
    await writeFile(otherKeys, JSON.stringify({ keys: [] }));
    expect(await run(archive, '--keys', otherKeys)).toMatchObject({
      ...{ code: 3, err: expect.stringContaining('which is not published') },
    });
    const changed = path.join(target.home(), 'changed.tar.gz');
    const tar = gunzipSync(await readFile(archive));
    tar.write('Pr0ject WEB', tar.indexOf('Project WEB'));
    await writeFile(changed, gzipSync(tar));
    for (const more of [['--from', source.url()], ['--no-signature']])
      expect(await run(changed, ...more)).toMatchObject({
        ...{ code: 3, err: expect.stringContaining('projects.ndjson was changed') },
      });
    expect(await run(archive, '--from', source.url(), '--dry-run')).toMatchObject({
      ...{ code: 0, out: expect.stringContaining('Nothing was changed.') },
    });
    expect(await run(archive, '--from', 'nowhere')).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('must be an address') },
    });
    expect((await target.apiClient(people.ana).projects.list({})).items).toEqual([]);
  });

  it('restores every list of every project, also when it is repeated', async () => {
    const started = performance.now();
    const done = await run(archive, '--from', source.url());
    process.stdout.write(`${done.out}imported in ${Math.round(performance.now() - started)} ms\n`);
    expect(done).toMatchObject({ code: 0, err: '' });
    const wanted = withoutIds(await readLists(source.apiClient(original.ana)));
    expect(withoutIds(await readLists(target.apiClient(people.ana)))).toEqual(wanted);
    expect(
      await run(archive, '--from', source.url(), '--project', 'WEB', '--into', 'WEB', '--json'),
    ).toMatchObject({ code: 0 });
    expect(withoutIds(await readLists(target.apiClient(people.ana)))).toEqual(wanted);
  }, 1_200_000);

  it('sends the lines of files together, and each file once', async () => {
    const forwarder = await openForwarder(target.url());
    const importWeb = async () => {
      const command = ['import', archive, '--from', source.url(), '--json'];
      command.push('--project', 'WEB', '--into', 'FILES');
      const env = { ...target.environmentOf(people.ana), MUSTER_BASE_URL: forwarder.url };
      const { out } = await target.run(command, { cwd: target.home(), env });
      const [project] = (JSON.parse(out) as { projects: { files: number }[] }).projects;
      return project?.files;
    };
    expect(await importWeb()).toBe(attachedCount + 2);
    expect(forwarder.asked('/api/imports/put')).toBeLessThan(attachedCount);
    expect(await importWeb()).toBe(0);
    await forwarder.goOffline();
  }, 600_000);

  it('continues an import that was killed', async () => {
    const command = target.start(
      ['import', archive, '--from', source.url(), '--project', 'WEB', '--into', 'KILLED'],
      { env: target.environmentOf(people.ana) },
    );
    const client = target.apiClient(people.ana);
    const hasStories = async () =>
      (await client.stories.list({ projectId: 'KILLED' }).catch(() => undefined))?.items.length;
    while (!((await hasStories()) ?? 0)) await new Promise(setImmediate);
    command.kill('SIGKILL');
    await command.exitCode;
    const again = await run(
      archive,
      '--from',
      source.url(),
      '--project',
      'WEB',
      '--into',
      'KILLED',
      '--json',
    );
    expect(again).toMatchObject({ code: 0, err: '' });
    const count = async (projectId: string) => (await client.projects.get({ projectId })).counts;
    expect(await count('KILLED')).toEqual(await count('WEB'));
    expect((await client.imports.list({ projectId: 'KILLED' })).items).toHaveLength(1);
  }, 600_000);

  it('does not import into a project with stories unless it is named', async () => {
    await target.apiClient(people.chloe).stories.create({ projectId: 'WEB', title: 'Here' });
    const fresh = await target.world.org();
    const client = target.apiClient(fresh.ana);
    await client.projects.create({ key: 'WEB', name: 'Other' });
    await client.stories.create({ projectId: 'WEB', title: 'Here' });
    expect(
      await target.runAs(fresh.ana, 'import', archive, '--from', source.url(), '--project', 'WEB'),
    ).toMatchObject({ code: 2, err: expect.stringContaining('has stories already') });
  });
});

import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { type InputOf } from '@muster/contract';
import { boardRegistry } from '@muster/board-registry';
import { useWorld } from '@muster/testing';
import { noWorkHandlers } from '../../../test/board.ts';
import { wrongCounts } from '../../../test/true-counts.ts';
import { boardColumns } from '../boardColumns/handlers.ts';
import { epics } from '../epics/handlers.ts';
import { stories } from '../stories/handlers.ts';
import { storySpec } from '../storySpec/handlers.ts';
import { projects } from './handlers.ts';

const world = useWorld({ projects, boardColumns, epics, stories, storySpec, inside: noWorkHandlers });

type Board = InputOf<typeof boardRegistry.projects.convertLocal>;

const tools: Board = {
  localProjectId: 'laptop-1/tools',
  key: 'TOOLS',
  name: 'Tools',
  epics: [
    { localId: 'e1', title: 'Set-up' },
    { localId: '__proto__', title: 'Rest', description: 'What is left', status: 'done' },
  ],
  stories: [
    {
      localId: 's1',
      title: 'Install script',
      status: 'ready',
      epicLocalId: 'e1',
      spec: '# Install\n\nOne line.\n',
      labels: ['a', 'b'],
    },
    {
      localId: 's2',
      title: 'Ümlaut “quoted” \\ {braces}',
      status: 'ready',
      description: 'x',
      priority: 'high',
      estimate: 2.5,
      dueDate: '2027-05-01',
      touches: ['./src/'],
      parentLocalId: 's5',
    },
    { localId: '__proto__', title: 'Gone', status: 'canceled', epicLocalId: 'e1' },
    { localId: 's4', title: 'Old', status: 'done', epicLocalId: '__proto__', spec: '' },
    { localId: 's5', title: 'Next' },
  ],
};

/** Returns a board with this many epics and stories, with specs of realistic size. */
const boardOf = (epicCount: number, storyCount: number, key: string): Board => ({
  localProjectId: key,
  key,
  name: key,
  epics: Array.from({ length: epicCount }, (_, n) => ({ localId: `e${n}`, title: `Epic ${n}` })),
  stories: Array.from({ length: storyCount }, (_, n) => ({
    localId: `s${n}`,
    title: `Story ${n}`,
    status: (['backlog', 'ready', 'in_progress', 'in_review', 'done', 'canceled'] as const)[n % 6],
    epicLocalId: `e${n % epicCount}`,
    spec: `# Story ${n}\n\n${'What it is about, "quoted" and \\escaped.\n'.repeat(50)}`,
  })),
});

describe('projects.convertLocal', () => {
  it('brings epics, stories and specs in, numbered in the order given', async () => {
    const { orgId, robo, chloe } = await world.org();
    const answer = await robo.projects.convertLocal(tools);
    expect(boardRegistry.projects.convertLocal.result.shape.project.parse(answer.project)).toEqual(
      answer.project,
    );
    const { project, mapping } = answer;
    expect(project).toMatchObject({
      key: 'TOOLS',
      origin: 'converted',
      visibility: 'org',
      myRole: 'lead',
      version: 1,
    });
    expect(Object.keys(mapping.epics)).toEqual(['e1', '__proto__']);
    expect(Object.keys(mapping.stories)).toEqual(['s1', 's2', '__proto__', 's4', 's5']);

    const { columns, counts } = await chloe.projects.get({ projectId: 'TOOLS' });
    expect(columns).toHaveLength(5);
    expect(counts).toEqual({ backlog: 1, ready: 2, in_progress: 0, in_review: 0, done: 1, canceled: 1 });
    const { items } = await chloe.stories.list({ projectId: 'TOOLS' });
    expect(items.map(({ key, title, status }) => `${key} ${title} ${status}`)).toEqual([
      'TOOLS-5 Next backlog',
      'TOOLS-1 Install script ready',
      'TOOLS-2 Ümlaut “quoted” \\ {braces} ready',
      'TOOLS-4 Old done',
      'TOOLS-3 Gone canceled',
    ]);
    const [, first, second, old, gone] = items;
    expect(first).toMatchObject({
      id: mapping.stories['s1'],
      epicId: mapping.epics['e1'],
      columnId: columns[1]?.id,
      labels: ['a', 'b'],
      specVersion: 1,
      version: 1,
      priority: 'none',
      estimate: null,
      completedAt: null,
      createdBy: { kind: 'agent', name: 'Robo' },
      createdAt: project.createdAt,
    });
    expect(second).toMatchObject({
      priority: 'high',
      estimate: 2.5,
      dueDate: '2027-05-01',
      touches: ['src'],
      parentId: mapping.stories['s5'],
      labels: [],
      specVersion: 0,
      epicId: null,
    });
    expect(old).toMatchObject({ completedAt: project.createdAt, specVersion: 0 });
    expect(gone).toMatchObject({ columnId: null, completedAt: project.createdAt });
    expect((await chloe.epics.list({ projectId: 'TOOLS' })).items).toMatchObject([
      { title: 'Set-up', status: 'open', progress: { total: 1, done: 0 } },
      { title: 'Rest', description: 'What is left', status: 'done', progress: { total: 1, done: 1 } },
    ]);
    const content = '# Install\n\nOne line.\n';
    expect((await chloe.storySpec.get({ storyId: 'TOOLS-1' })).spec).toMatchObject({
      version: 1,
      content,
      contentHash: createHash('sha256').update(content).digest('hex'),
      author: { name: 'Robo' },
      note: null,
    });
    expect((await chloe.storySpec.history({ storyId: 'TOOLS-1' })).items).toMatchObject([
      { linesAdded: 3, linesRemoved: 0 },
    ]);
    expect(await wrongCounts(world, project.id)).toEqual([]);
    expect(await world.rows('select kind, data from activity where org_id = $1', orgId)).toEqual([
      { kind: 'project.converted', data: { localProjectId: 'laptop-1/tools', epics: 2, stories: 5 } },
    ]);
  });

  it('leaves a board that works on: the next story has the next number and the last place, and all is counted', async () => {
    const { chloe } = await world.org();
    const { project, mapping } = await chloe.projects.convertLocal(tools);
    const { story } = await chloe.stories.create({ projectId: 'TOOLS', title: 'New', status: 'ready' });
    expect(story.key).toBe('TOOLS-6');
    await chloe.stories.reorder({ storyId: story.id, beforeStoryId: mapping.stories['s2'] ?? '' });
    await chloe.stories.updateStatus({ storyId: 'TOOLS-3', status: 'backlog' });
    const { items } = await chloe.stories.list({ projectId: 'TOOLS', status: ['backlog', 'ready'] });
    expect(items.map(({ number }) => number)).toEqual([5, 3, 1, 6, 2]);
    expect(await wrongCounts(world, project.id)).toEqual([]);
  });

  it('gives the same answer to the same local board, and doubles nothing', async () => {
    const { orgId, ana, chloe } = await world.org();
    const answer = await chloe.projects.convertLocal(tools);
    expect(await chloe.projects.convertLocal(tools)).toEqual(answer);
    expect(await ana.projects.convertLocal({ ...tools, key: 'OTHER', stories: [] })).toEqual(answer);
    expect(await world.rows('select from projects where org_id = $1', orgId)).toHaveLength(1);
    expect(await world.rows('select from stories where org_id = $1', orgId)).toHaveLength(5);
    expect(await world.rows('select from activity where org_id = $1', orgId)).toHaveLength(1);
    // Another organization has its own local boards.
    const { ana: other } = await world.org();
    expect((await other.projects.convertLocal(tools)).project.id).not.toBe(answer.project.id);
  });

  it('answers so when it is asked ten times at once, too', async () => {
    const { orgId, ana, ben, chloe, robo } = await world.org();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        ([ana, ben, chloe, robo][n % 4] ?? ana).projects.convertLocal(tools),
      ),
    );
    expect(new Set(answers.map(({ project }) => project.id)).size).toBe(1);
    for (const { mapping } of answers) expect(mapping).toEqual(answers[0]?.mapping);
    expect(await world.rows('select from stories where org_id = $1', orgId)).toHaveLength(5);
  });

  it('says of a board that became a project one may not see only that it exists', async () => {
    const { ana, chloe } = await world.org();
    await ana.projects.convertLocal(tools);
    await ana.projects.update({ projectId: 'TOOLS', visibility: 'private' });
    await expect(chloe.projects.convertLocal({ ...tools, key: 'MINE' })).rejects.toMatchObject({
      status: 409,
      reason: 'already_exists',
    });
  });

  it('is not for a token that is bound to projects, also not to be answered again', async () => {
    const { orgId, chloe } = await world.org();
    const nowhere = await world.token(orgId, chloe.me.memberId, { projectIds: [] });
    await expect(nowhere.projects.convertLocal(tools)).rejects.toMatchObject({
      status: 403,
      reason: 'bound_token',
    });
    const made = await chloe.projects.convertLocal(tools);
    const bound = await world.token(orgId, chloe.me.memberId, { projectIds: [made.project.id] });
    await expect(bound.projects.convertLocal(tools)).rejects.toMatchObject({ reason: 'bound_token' });
  });

  it('can be done again once the project is deleted', async () => {
    const { ana } = await world.org();
    const { project } = await ana.projects.convertLocal(tools);
    await ana.projects.delete({ projectId: 'TOOLS', confirmKey: 'TOOLS' });
    expect((await ana.projects.convertLocal(tools)).project.id).not.toBe(project.id);
  });

  it('refuses what does not hold together, field by field, and keeps nothing', async () => {
    const { orgId, chloe } = await world.org();
    const wrong: Board = {
      ...tools,
      columns: [
        { name: 'To do', status: 'backlog' },
        { name: 'Done', status: 'done' },
      ],
      stories: [
        { localId: 'a', title: 'x', epicLocalId: 'nowhere' },
        { localId: 'a', title: 'x', status: 'in_review' },
      ],
    };
    await expect(chloe.projects.convertLocal(wrong)).rejects.toMatchObject({
      status: 400,
      body: {
        details: {
          issues: [
            { path: 'stories[1].localId', message: 'duplicates the localId of stories[0]' },
            { path: 'stories[0].epicLocalId' },
            { path: 'stories[1].status', message: expect.stringContaining('in_review') },
          ],
        },
      },
    });
    expect(await world.rows('select from projects where org_id = $1', orgId)).toEqual([]);
  });

  it('keeps to the keys and the plan: a key that is taken and a full plan keep nothing', async () => {
    const { orgId, ana, chloe, dan } = await world.org({ plan: 'free' });
    await ana.projects.create({ key: 'TOOLS', name: 'x' });
    await expect(chloe.projects.convertLocal(tools)).rejects.toMatchObject({
      status: 409,
      reason: 'already_exists',
    });
    expect(await world.rows('select from stories where org_id = $1', orgId)).toEqual([]);
    await expect(dan.projects.convertLocal({ ...tools, key: 'T2' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) =>
        chloe.projects.convertLocal({ ...tools, localProjectId: `l${n}`, key: `T${n}` }),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    await expect(
      chloe.projects.convertLocal({ ...tools, localProjectId: 'more', key: 'MORE' }),
    ).rejects.toMatchObject({
      status: 422,
      reason: 'limit_exceeded',
    });
  });

  it('brings a real board in', async () => {
    const { chloe } = await world.org();
    const { project, mapping } = await chloe.projects.convertLocal(boardOf(22, 647, 'KEPS'));
    expect(Object.keys(mapping.stories)).toHaveLength(647);
    expect(await wrongCounts(world, project.id)).toEqual([]);
  });

  it('keeps nothing of a board that fails in its last portion, and brings it in when called again', async () => {
    const { orgId, chloe } = await world.org();
    const board = boardOf(3, 250, 'MID');
    board.stories?.push({ localId: 'last', title: 'Last', spec: 'fails in the middle' });
    await world.rows(`create function fail_in_the_middle() returns trigger language plpgsql as
      $$ begin raise exception 'the server fails'; end $$`);
    await world.rows(`create trigger fails_in_the_middle after insert on story_specs for each row
      when (new.content = 'fails in the middle') execute function fail_in_the_middle()`);
    await expect(chloe.projects.convertLocal(board)).rejects.toThrow('the server fails');
    for (const table of ['projects', 'stories', 'epics', 'search_documents'])
      expect(
        await world.rows(
          `select from ${table} where org_id = $1 ${table === 'search_documents' ? "and kind <> 'member'" : ''}`,
          orgId,
        ),
      ).toEqual([]);
    await world.rows('drop trigger fails_in_the_middle on story_specs');
    await world.rows('drop function fail_in_the_middle()');
    const { mapping } = await chloe.projects.convertLocal(board);
    expect(Object.keys(mapping.stories)).toHaveLength(251);
  });
});

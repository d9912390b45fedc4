import { beforeEach, describe, expect, it } from '@jest/globals';
import { type EventEmitter } from 'node:events';
import { createPool, newId } from '@muster/driver';
import {
  contextSections,
  internalOperations,
  type InputOf,
  minContextBytes,
  type Story,
  StoryContext,
} from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { deliveryRegistry } from '@muster/delivery-registry';
import { organizationsHandlers } from '@muster/organizations';
import { handle } from '@muster/runtime';
import { withTestTimeouts, type PeopleOf, useWorld } from '@muster/testing';
import { arrangeBoard, type TestBoard } from '../../../test/board.ts';
import { assignments } from '../assignments/handlers.ts';
import { comments } from '../comments/handlers.ts';
import { contracts } from '../contracts/handlers.ts';
import { epics } from '../epics/handlers.ts';
import { prompts } from '../prompts/handlers.ts';
import { reviewers } from '../reviewers/handlers.ts';
import { stories } from '../stories/handlers.ts';
import { storySpec } from '../storySpec/handlers.ts';
import { storyCollaboration } from './handlers.ts';

const world = useWorld({
  assignments,
  comments,
  contracts,
  epics,
  prompts,
  reviewers,
  stories,
  storySpec,
  storyCollaboration,
  policy: organizationsHandlers.policy,
  // The answers of delivery for a story without work and without a group. Specs of the API test other
  // answers.
  deliveryExecutions: {
    getForTarget: handle(deliveryRegistry.deliveryExecutions.getForTarget, async () => ({ execution: null })),
  },
  inside: {
    workAround: handle(internalOperations.workAround, async () => ({
      locks: [],
      moreLocks: false,
      collisions: [],
      moreCollisions: false,
    })),
    storyTouches: handle(internalOperations.storyTouches, async () => ({
      touches: { outside: [], untouched: [], suggested: [] },
    })),
  },
  deliveryGroups: {
    getForStory: handle(deliveryRegistry.deliveryGroups.getForStory, async () => ({ group: null })),
  },
});

let people: PeopleOf<typeof world>;
let board: TestBoard;
let story: Story;
beforeEach(async () => {
  people = await world.org();
  board = await arrangeBoard(world, people.orgId);
  ({ story } = await people.chloe.stories.create({ projectId: 'WEB', title: 'Passkeys', status: 'ready' }));
});

type ContextParams = Partial<InputOf<typeof boardRegistry.storyCollaboration.context>>;
const readContext = (asked: ContextParams = {}, who = people.dan) =>
  who.storyCollaboration.context({ storyId: story.id, ...asked });
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Inserts comments by SQL, because hundreds of calls would take too long. */
const fillThreads = (threads: number, replies: number, body: string) =>
  world.rows(
    `with roots as (insert into comments (org_id, id, story_id, kind, body, author, author_member_id)
       select $1, uuidv7(make_interval(secs => n - 100000)), $2, 'comment', n || ' ' || $3::text, $4, $5 from generate_series(1, $6::int) n
       returning id)
     insert into comments (org_id, id, story_id, parent_id, kind, body, author, author_member_id)
     select $1, uuidv7(make_interval(secs => n)), $2, r.id, 'comment', n || ' ' || $3::text, $4, $5 from roots r, generate_series(1, $7::int) n`,
    people.orgId,
    story.id,
    body,
    { kind: 'member', memberId: people.ana.me.memberId, agentId: null, name: 'Ana' },
    people.ana.me.memberId,
    threads,
    replies,
  );

describe('storyCollaboration.context', () => {
  it('answers in one call what the single reads answer', async () => {
    const { epic } = await people.chloe.epics.create({
      projectId: 'WEB',
      title: 'Sign-in',
      description: 'All ways in',
    });
    await people.chloe.stories.update({ storyId: story.id, epicId: epic.id, description: 'No passwords' });
    await people.chloe.storySpec.update({ storyId: story.id, content: '# Passkeys\n' });
    await people.chloe.assignments.set({
      targetType: 'story',
      targetId: story.id,
      memberId: people.chloe.me.memberId,
    });
    await people.chloe.reviewers.add({ storyId: story.id, memberId: people.ben.me.memberId });
    const { comment } = await people.dan.comments.create({
      storyId: story.id,
      body: 'Why?',
      kind: 'question',
    });
    await people.ana.comments.create({ storyId: story.id, body: 'Safer', parentId: comment.id });
    await people.ben.prompts.org.upsert({ slug: 'start', title: 'Start', body: 'Read the spec.' });
    await people.chloe.contracts.publish({
      projectId: 'WEB',
      slug: 'api',
      kind: 'markdown',
      content: '# API',
      storyId: story.id,
    });
    await people.ben.stories.select({ storyId: story.id });

    const context = await readContext({ storyId: 'web-1' });
    const { dan } = people;
    const [{ items: threads }, effective, published] = [
      await dan.comments.list({ storyId: story.id }),
      await dan.prompts.project.list({ projectId: 'WEB', effective: true }),
      await dan.contracts.list({ projectId: 'WEB', includeContent: true }),
    ];
    expect(context).toEqual({
      story: (await dan.stories.get({ storyId: story.id })).story,
      rework: null,
      touches: { outside: [], untouched: [], suggested: [] },
      epic: (await dan.epics.list({ projectId: 'WEB' })).items[0],
      ...(await dan.storySpec.get({ storyId: story.id })),
      openThreads: threads.map(({ reactions: _, repliesCursor: _none, replies, ...root }) => ({
        ...root,
        replies: replies.map(({ reactions: _nothing, ...reply }) => reply),
      })),
      reviewers: (await dan.reviewers.list({ storyId: story.id })).items,
      assignment: (await dan.assignments.listForProject({ projectId: 'WEB' })).items[0],
      execution: null,
      deliveryGroup: null,
      locks: [],
      collisions: [],
      prompts: effective.items,
      contracts: published.items,
      policy: expect.objectContaining({ wipLimits: 'warn', requiredApprovals: 0, version: 1 }),
      recentActivity: expect.any(Array),
      others: [{ member: expect.objectContaining({ name: 'Ben' }), since: expect.any(String) }],
      readiness: { canStart: true, reasons: [], openBlockers: [] },
      truncated: [],
    });
    expect(context.openThreads).toMatchObject([{ body: 'Why?', replies: [{ body: 'Safer' }] }]);
    expect(StoryContext.parse(context)).toEqual(context);
    expect(context.recentActivity?.map(({ kind }) => kind).slice(-3)).toEqual([
      'spec.updated',
      'story.updated',
      'story.created',
    ]);
  });

  it('answers a story about which nothing is said', async () => {
    expect(await readContext()).toMatchObject({
      epic: null,
      spec: { version: 0, content: '' },
      assignment: null,
      ...{ openThreads: [], reviewers: [], prompts: [], contracts: [], others: [], truncated: [] },
    });
  });

  it('answers only the sections asked for, and the rest as null', async () => {
    const context = await readContext({ include: ['others', 'story', 'others'] });
    expect(Object.keys(context)).toEqual([...contextSections, 'truncated']);
    expect(context).toMatchObject({ story: { key: 'WEB-1' }, others: [], truncated: [] });
    for (const name of contextSections) {
      if (name !== 'story' && name !== 'others') expect([name, context[name]]).toEqual([name, null]);
    }
    for (const include of [[], ['nothing']] as never[]) {
      await expect(readContext({ include })).rejects.toMatchObject({ status: 400 });
    }
  });

  it('is nobody’s who may not see the project, and of a private one shows the story to those within', async () => {
    const secret = await arrangeBoard(world, people.orgId, { key: 'SECRET', visibility: 'private' });
    await people.ana.stories.create({ projectId: 'SECRET', title: 'Hidden' });
    for (const storyId of ['SECRET-1', 'WEB-9', newId()]) {
      await expect(readContext({ storyId }, people.chloe)).rejects.toMatchObject({ status: 404 });
    }
    expect(await readContext({ storyId: 'SECRET-1' }, people.ana)).toMatchObject({
      story: { projectId: secret.projectId },
    });
  });
});

describe('its sections', () => {
  it('have the open threads only, oldest first, without what was resolved', async () => {
    const bodies = ['one', 'two', 'three'];
    const made = [];
    for (const body of bodies)
      made.push((await people.dan.comments.create({ storyId: story.id, body })).comment);
    await people.dan.comments.resolve({ commentId: made[1]?.id ?? '' });
    const { openThreads } = await readContext({ include: ['openThreads'] });
    expect(openThreads?.map(({ body }) => body)).toEqual(['one', 'three']);
  });

  it('have the prompts of the project in place of those it hides', async () => {
    await people.ben.prompts.org.upsert({ slug: 'start', title: 'Start', body: 'Everybody’s' });
    await people.ben.prompts.org.upsert({ slug: 'end', title: 'End', body: 'Everybody’s' });
    await people.ben.prompts.project.upsert({
      projectId: 'WEB',
      slug: 'start',
      title: 'Start',
      body: 'Ours',
    });
    const context = await readContext({ include: ['prompts'] });
    expect(context.prompts?.map(({ slug, scope, body }) => [slug, scope, body])).toEqual([
      ['end', 'org', 'Everybody’s'],
      ['start', 'project', 'Ours'],
    ]);
  });

  it('have the newest contracts, those of the story first, and none of another project', async () => {
    await arrangeBoard(world, people.orgId, { key: 'APP' });
    const publish = (slug: string, content: string, storyId?: string, projectId = 'WEB') =>
      people.chloe.contracts.publish({
        projectId,
        slug,
        kind: 'markdown',
        content,
        ...(storyId && { storyId }),
      });
    await publish('a', '1');
    await publish('z', '1', 'WEB-1');
    await publish('z', '2');
    await publish('app', '1', undefined, 'APP');
    const context = await readContext({ include: ['contracts'] });
    expect(context.contracts?.map(({ slug, version, content }) => [slug, version, content])).toEqual([
      ['z', 2, '2'],
      ['a', 1, '1'],
    ]);
  });

  it('have the newest 20 of what happened, which is all that they are said to be', async () => {
    for (let title = 0; title < 22; title += 1) {
      await people.chloe.stories.update({ storyId: story.id, title: `Title ${title}` });
    }
    const context = await readContext({ include: ['recentActivity'] });
    expect(context.recentActivity).toHaveLength(20);
    expect(context.recentActivity?.[0]).toMatchObject({ kind: 'story.updated', data: { fields: ['title'] } });
    expect(context.truncated).toEqual([]);
  });

  it('say where there is more than they show', async () => {
    await world.rows(
      `insert into prompts (org_id, id, slug, title, body, created_by, updated_by)
       select $1, gen_random_uuid(), 'p' || n, 'P', 'body', '{}', '{}' from generate_series(1, 51) n`,
      people.orgId,
    );
    await fillThreads(101, 0, 'short');
    const context = await readContext({ include: ['prompts', 'openThreads'], maxBytes: 4 * 1024 * 1024 });
    expect([context.prompts?.length, context.openThreads?.length]).toEqual([50, 100]);
    expect(context.openThreads?.[0]?.body).toBe('2 short');
    expect(context.truncated).toEqual(['openThreads', 'prompts']);
  });
});

describe('readiness', () => {
  const readinessOf = async () => (await readContext({ include: ['readiness'] })).readiness;
  const start = () => people.chloe.stories.updateStatus({ storyId: story.id, status: 'in_progress' });
  const setPolicy = (policy: object) =>
    world.rows('update orgs set policy = $2 where id = $1', people.orgId, policy);

  it('names the stories that it waits for, until they are finished', async () => {
    const { story: blocker } = await people.chloe.stories.create({ projectId: 'WEB', title: 'First' });
    await people.chloe.stories.update({ storyId: story.id, blockedBy: [blocker.id] });
    expect(await readinessOf()).toEqual({
      canStart: false,
      reasons: ['blocked_by'],
      openBlockers: [{ id: blocker.id, key: 'WEB-2', title: 'First', status: 'backlog' }],
    });
    await people.chloe.stories.updateStatus({ storyId: blocker.id, status: 'done' });
    expect(await readinessOf()).toEqual({ canStart: true, reasons: [], openBlockers: [] });
  });

  it('says of a spec that is missing, and of a full column, what the move says', async () => {
    await setPolicy({ requireSpecToStart: true, wipLimits: 'block' });
    await world.rows(
      'update board_columns set wip_limit = 1, story_count = 1 where id = $1',
      board.columns.in_progress,
    );
    for (const content of ['', 'x', ' ', 'y']) {
      const isSpec = content.trim() !== '';
      await people.chloe.storySpec.update({ storyId: story.id, content });
      expect((await readinessOf())?.reasons).toEqual([...(isSpec ? [] : ['spec_missing']), 'wip_limit']);
      await expect(start()).rejects.toMatchObject({ reason: isSpec ? 'wip_limit' : 'policy' });
    }
    await world.rows('update board_columns set wip_limit = 2 where id = $1', board.columns.in_progress);
    expect(await readinessOf()).toMatchObject({ canStart: true });
    await start();
    expect(await readinessOf()).toMatchObject({ canStart: true });
  });

  it('says that the project is archived, the board has no column, the story waits for somebody, or is done', async () => {
    await people.chloe.stories.update({
      storyId: story.id,
      blocked: { kind: 'needs_input', note: 'Which?', unblockerMemberId: people.ana.me.memberId },
    });
    await world.rows('update projects set archived_at = now() where id = $1', board.projectId);
    await world.rows('update board_columns set archived_at = now() where id = $1', board.columns.in_progress);
    expect((await readinessOf())?.reasons).toEqual(['archived', 'blocked', 'no_column']);
    await world.rows('update projects set archived_at = null where id = $1', board.projectId);
    await people.chloe.stories.updateStatus({ storyId: story.id, status: 'done' });
    expect((await readinessOf())?.reasons).toEqual(['finished', 'blocked']);
  });
});

describe('its room', () => {
  it('is never gone beyond, and what is cut is named, the least needed first', async () => {
    const spec = `${'é'.repeat(100 * 1024 - 4)}END`;
    await people.chloe.storySpec.update({ storyId: story.id, content: spec });
    await fillThreads(30, 9, 'x'.repeat(400));
    await people.chloe.contracts.publish({
      projectId: 'WEB',
      slug: 'api',
      kind: 'markdown',
      content: 'c'.repeat(200 * 1024),
    });
    await people.ben.prompts.org.upsert({ slug: 'start', title: 'Start', body: 'p'.repeat(60 * 1024) });
    const whole = await readContext({ maxBytes: 2 * 1024 * 1024 });
    expect(whole.truncated).toEqual([]);
    expect(whole.openThreads?.flatMap((thread) => [thread, ...thread.replies])).toHaveLength(300);

    const cut = await readContext();
    expect(bytesOf(cut)).toBeLessThanOrEqual(256 * 1024);
    expect(cut.truncated).toEqual(['openThreads', 'prompts', 'contracts', 'recentActivity']);
    expect(cut).toMatchObject({
      spec: whole.spec,
      story: whole.story,
      contracts: [{ content: null }],
      prompts: [{ body: null }],
    });
    // The newest thread is still part of the shortened context.
    expect(cut.openThreads?.at(-1)).toEqual(whole.openThreads?.at(-1));

    const little = await readContext({ maxBytes: 20_001 });
    expect(bytesOf(little)).toBeLessThanOrEqual(20_001);
    expect(bytesOf(little)).toBeGreaterThan(19_900);
    expect(little.truncated).toContain('spec');
    expect(spec.startsWith(little.spec?.content ?? 'x')).toBe(true);
    expect(little.spec).toMatchObject({ contentHash: whole.spec?.contentHash, version: 1 });
    expect(little.openThreads).toEqual([]);

    const least = await readContext({ maxBytes: minContextBytes });
    expect(bytesOf(least)).toBeLessThanOrEqual(minContextBytes);
    expect(least).toMatchObject({ story: { key: 'WEB-1' }, readiness: { canStart: true } });
    for (const maxBytes of [minContextBytes - 1, 4 * 1024 * 1024 + 1]) {
      await expect(readContext({ maxBytes })).rejects.toMatchObject({ status: 400 });
    }
  });

  it('is as large as the answer that crosses the wire', async () => {
    await fillThreads(3, 3, '"quoted" – and longer than one byte');
    const handler = storyCollaboration.context;
    const { json } = await world.call(people.dan, handler, { storyId: story.id });
    const exactly = Buffer.byteLength(json);
    const again = await world.call(people.dan, handler, { storyId: story.id, maxBytes: exactly });
    expect(again.json).toBe(json);
    const less = await world.call(people.dan, handler, { storyId: story.id, maxBytes: exactly - 1 });
    expect(Buffer.byteLength(less.json)).toBeLessThan(exactly);
    expect(less.json).toMatch(/"truncated":\["recentActivity"\]\}$/);
  });

  it('is filled from the newest comments, whatever the old ones weigh', async () => {
    await fillThreads(3, 2, '😀'.repeat(3_000));
    const context = await readContext({ include: ['openThreads'], maxBytes: 16 * 1024 });
    expect(context.truncated).toEqual(['openThreads']);
    expect(context.openThreads).toMatchObject([{ replies: [] }]);
    expect(context.openThreads?.[0]?.body).toMatch(/^3 /);
    // Not a single thread fits.
    const none = await readContext({ include: ['openThreads'], maxBytes: minContextBytes });
    expect(none).toMatchObject({ openThreads: [], truncated: ['openThreads'] });
  });
});

it('asks Postgres everything in one round trip', async () => {
  const pool = withTestTimeouts(createPool({ url: world.database.url, role: 'muster_app', max: 1 }));
  let roundTrips = 0;
  // The server sends readyForQuery once per round trip.
  pool.on('connect', (client) => {
    const { connection } = client as unknown as { connection: EventEmitter };
    connection.on('readyForQuery', () => {
      roundTrips += 1;
    });
  });
  try {
    const ask = () => world.call(people.dan, storyCollaboration.context, { storyId: 'WEB-1' }, { pool });
    await ask();
    roundTrips = 0;
    await ask();
    expect(roundTrips).toBe(1);
  } finally {
    await pool.end();
  }
});

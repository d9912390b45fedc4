/** Rules that hold for every list: maximum sizes and valid cursors. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { handlers, performableHandlers } from '@muster/operations';
import { type Operation } from '@muster/contract';
import { operations } from '@muster/registry';
import { type Handler, valuesMissedByValidation } from '@muster/runtime';
import { type Person } from '@muster/testing';
import { exampleCallerOf, type ExampleOrg, createExampleOrg } from '@muster/examples';
import fc from 'fast-check';
import { type RawAnswer, useApi } from './api.ts';

const api = useApi();
const { world } = api;
const lists = [...operations.values()]
  .filter(({ effect, params }) => effect === 'read' && 'cursor' in params.shape)
  .map((operation) => [operation.name, operation] as const);

interface Page {
  readonly items: readonly unknown[];
  readonly nextCursor: string | null;
}

function handlerOf(name: string): Handler {
  const handler = performableHandlers(handlers).get(name);
  if (handler === undefined) throw new Error(`nobody handles ${name}`);
  return handler;
}

/**
 * Reads all pages of the list that the operation's example reads. Each page is limited to `maxPageBytes`.
 */
async function pagesOf(operation: Operation, maxPageBytes?: number): Promise<Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const params = { ...(operation.example as object), limit: 200, ...(cursor !== undefined && { cursor }) };
    const { json } = await world.call(exampleCallerOf(operation, org), handlerOf(operation.name), params, {
      ...(maxPageBytes !== undefined && { maxPageBytes }),
    });
    const page = JSON.parse(json) as Page;
    pages.push(page);
    cursor = page.nextCursor;
  }
  return pages;
}

/** Ids that the contract's examples name: a member and two teams. */
const [nora, team, ofPlatform] = ['50', '21', '42'].map((end) => `01936d5c-0000-7000-8000-0000000000${end}`);

/** Adds more records of every listed kind to those of the example. */
async function addMoreRecords({ ana, ben, chloe, lead, orgId, records }: ExampleOrg): Promise<void> {
  const call = async (who: Person, name: string, params: object): Promise<RawAnswer['body']> => {
    const { status, body } = await api.call(who.me.token, name, params);
    if (status !== 200) throw new Error(`${name}: ${JSON.stringify(body)}`);
    return body;
  };
  const inWeb = { projectId: 'WEB' };
  await call(ana, 'reviewers.add', { storyId: 'WEB-1', memberId: lead.me.memberId });
  for (const title of ['One', 'Two']) {
    const { story } = await call(chloe, 'stories.create', { ...inWeb, title, status: 'ready' });
    const { id } = story as { id: string };
    for (const memberId of [nora, ana.me.memberId])
      await call(chloe, 'assignments.set', { targetType: 'story', targetId: id, memberId });
    await call(ben, 'assignments.set', { targetType: 'story', targetId: id, memberId: nora });
    await call(chloe, 'reviewers.add', { storyId: id, memberId: ana.me.memberId });
    await call(chloe, 'deliveryExecutions.acquire', { targetType: 'story', targetId: id, runId: title });
    await call(ana, 'epics.create', { ...inWeb, title });
    await call(ana, 'deliveryGroups.create', { ...inWeb, name: title, storyIds: [id] });
    await call(ben, 'locks.acquire', { ...inWeb, resources: [`${title}/**`], runId: title });
    await call(ana, 'members.invite', { email: `${title}@example.com` });
    await call(ana, 'storySpec.update', { storyId: 'WEB-1', content: title });
    await call(chloe, 'comments.create', { storyId: 'WEB-1', body: title });
    const parentId = records.comment;
    await call(chloe, 'comments.create', { storyId: 'WEB-1', body: `@${ana.me.handle} ${title}`, parentId });
    const prompt = { slug: title.toLowerCase(), title, body: title };
    await call(ana, 'prompts.org.upsert', prompt);
    await call(ana, 'prompts.project.upsert', { ...inWeb, ...prompt });
    const contract = { slug: 'clock-api', kind: 'markdown', content: title };
    await call(ana, 'contracts.publish', { ...inWeb, ...contract });
    await call(ana, 'broadcasts.send', { message: title });
    await call(ana, 'forges.connect', { kind: 'github', name: title });
    const connectionId = records.forgeConnection;
    await call(ana, 'forges.repositories.link', { ...inWeb, connectionId, externalId: title });
    await world.rows(
      `insert into forge_deliveries (org_id, id, connection_id, delivery_id, event, trust, payload)
       values ($1, $2, $3, $4, 'ping', 'verified', '{}')`,
      ...[orgId, newId(), connectionId, title],
    );
    const issuer = `https://${title}.example`;
    await call(ana, 'identityProviders.upsert', { issuer, clientId: 'muster', domains: ['acme.example'] });
    await call(ana, 'webhooks.create', {
      ...inWeb,
      url: `https://hooks.acme.example/${title}`,
      kinds: ['story.created'],
    });
    await call(ana, 'webhooks.test', { webhookId: records.webhook });
    const url = 'https://hooks.slack.com/services/T0/B0/x';
    await call(ana, 'devices.connectChat', { service: 'slack', name: title, url });
    await call(ana, 'views.create', { ...inWeb, name: title, layout: 'list', shared: true });
    const { story: deleted } = await call(ana, 'stories.create', { ...inWeb, title });
    await call(ana, 'stories.delete', { storyId: (deleted as { id: string }).id });
    await call(ana, 'agents.runEvent', { ...inWeb, runId: title, kind: 'started' });
    const budget = { amountMicros: 1_000_000, period: 'day', action: 'notify' };
    await call(ana, 'budgets.set', { ...budget, scope: 'story', targetId: id });
    await world.rows(
      `insert into usage_days (org_id, project_id, day, member_id, run_id, story_id, model, currency, input_tokens,
         output_tokens, cached_tokens, cost_micros)
       select org_id, project_id, (now() at time zone 'UTC')::date, $2, $3, id, 'gpt-5', 'USD', 1, 1, 0, 1 from stories
       where org_id = $1 and id = $4`,
      ...[orgId, ana.me.memberId, title, id],
    );
    const [workId, agentId] = [newId(), newId()];
    const worker = JSON.stringify({ memberId: ana.me.memberId, agentId });
    await world.rows(
      'insert into agents (org_id, id, member_id, name, slug) values ($1, $2, $3, $4, lower($4))',
      ...[orgId, agentId, ana.me.memberId, `Worker-${title}`],
    );
    await world.rows(
      `with work as (insert into executions (org_id, id, project_id, target_type, target_id, state, epoch, completed_at)
         select org_id, $2, project_id, 'story', id, 'completed', 1, now() from stories where org_id = $1 and id = $3)
       insert into execution_events (org_id, execution_id, seq, kind, actor) values ($1, $2, 1, 'acquired', $4)`,
      ...[orgId, workId, id, worker],
    );
    await world.rows(
      `insert into exports (org_id, id, scope, member_id, requested_by, state) select org_id, $2, scope, member_id, requested_by, state
       from exports where org_id = $1 limit 1`,
      ...[orgId, newId()],
    );
    await call(ana, 'imports.begin', { ...inWeb, provider: 'jira', name: title });
    const agent = { slug: `reviewer-${title.toLowerCase()}`, version: '1.0.0', name: 'Review' };
    const content = { description: '', manifest: {}, content: title, tags: ['review'] };
    await call(ana, 'agents.catalog.publish', { ...agent, ...content });
    const made = await call(ana, 'teams.create', { name: title });
    const { id: teamId } = made['team'] as { id: string };
    await call(ana, 'projects.assignTeam', { ...inWeb, teamId, role: 'viewer' });
    await call(ana, 'projects.create', { key: title.toUpperCase(), name: title });
    await call(ana, 'projects.assignTeam', {
      projectId: title.toUpperCase(),
      teamId: ofPlatform,
      role: 'viewer',
    });
    const asker = await world.member(orgId, `Ana ${title}`, 'viewer');
    await api.call(asker.me.token, 'orgs.update', { name: 'Mine' });
    await call(ana, 'teams.members.add', { teamId: team, memberId: asker.me.memberId, role: 'member' });
    await world.rows(
      `insert into access_requests (org_id, id, project_id, member_id, role)
       select org_id, $2, id, $3, 'contributor' from projects where org_id = $1 and key = 'WEB'`,
      orgId,
      newId(),
      asker.me.memberId,
    );
    await world.rows(
      `insert into attachments (org_id, id, project_id, story_id, name, content_type, size, sha256, kind, state, author, author_member_id)
       select org_id, $2, project_id, story_id, name, content_type, size, sha256, kind, state, author, author_member_id
       from attachments where org_id = $1 limit 1`,
      orgId,
      newId(),
    );
    await world.rows(
      `insert into code_change_files (org_id, changes_id, seq, path, status, additions, deletions, is_binary, is_truncated)
       select org_id, id, (select count(*) + 1 from code_change_files where org_id = $1), $2, 'added', 1, 0, false, false
       from code_changes where org_id = $1`,
      ...[orgId, title],
    );
    await world.rows(
      `insert into point_scores (org_id, period, starts_on, scope_id, member_id, points)
       select org_id, 'week', date_trunc('week', now())::date, id, $2, 7 from projects where org_id = $1 and key = 'WEB'`,
      orgId,
      asker.me.memberId,
    );
  }
}

/** One organization for all tests, because none of them changes it. */
let org: ExampleOrg;
beforeAll(async () => {
  org = await createExampleOrg(world);
  await addMoreRecords(org);
  await world.org();
});

describe('every list', () => {
  it.each(lists)('%s cuts its pages by bytes, and shows each item once', async (_name, operation) => {
    const whole = (await pagesOf(operation)).flatMap(({ items }) => items);
    const single = await pagesOf(operation, 1);
    // The addresses of downloads say until when they are valid.
    const lasting = (items: unknown): unknown =>
      JSON.parse(JSON.stringify(items).replace(/"downloadUrl":"[^"]*"/g, '"downloadUrl":""'));
    expect(lasting(single.flatMap(({ items }) => items))).toEqual(lasting(whole));
    // A page of at most one byte contains one item, whatever the size of that item.
    expect(Math.max(0, ...single.map(({ items }) => items.length))).toBe(Math.min(1, whole.length));
    expect(whole.length).toBeGreaterThan(1);
  });
});

describe('a long manifest', () => {
  it('stands in a list of agents only where it is asked for; a short one always does', async () => {
    const { ana } = await world.org();
    const long = { prompt: 'x'.repeat(5_000) };
    const short = { prompt: 'x'.repeat(3_000) };
    for (const [slug, manifest] of Object.entries({ long, short })) {
      const agent = { slug, manifest, version: '1.0.0', name: slug, description: '', content: 'x', tags: [] };
      expect((await api.call(ana.me.token, 'agents.catalog.publish', agent)).status).toBe(200);
    }
    const manifests = async (params: object): Promise<unknown[]> => {
      const { body } = await api.call(ana.me.token, 'agents.catalog.list', params);
      return (body['items'] as { manifest: unknown }[]).map(({ manifest }) => manifest);
    };
    expect(await manifests({})).toEqual([null, short]);
    expect(await manifests({ includeManifest: true })).toEqual([long, short]);
    expect(await manifests({ includeManifest: false })).toEqual([null, null]);
  });
});

/** Values that no cursor contains. */
const impossibleCursorValues: readonly unknown[] = [
  ...[null, true, {}, [], ['a']],
  ...[-1, 1.5, 2 ** 53, 1e308, -(2 ** 63)],
  ...['\0', 'a\0b', '\ud800', '0000-01-01T00:00:00.000Z\0'],
];
/**
 * Values that some cursors contain. Together with other parts, they have the length and types of real
 * cursors.
 */
const plausibleCursorValues: readonly unknown[] = [
  ...[
    '01936d5c-0000-7000-8000-000000000001',
    '2026-11-21T09:30:00.000Z',
    'abc',
    '',
    'board',
    'updated',
    'created',
  ],
  ...['story', 'mention', 1, 2 ** 31 - 1, 'x'.repeat(700)],
];
/** Values that look valid but that Postgres rejects. */
const treacherous: readonly unknown[] = [
  ...['0000-01-01T00:00:00.000Z', '2026-02-30T00:00:00.000Z', '10000-01-01T00:00:00.000Z', 'infinity'],
  ...[
    '01936D5C-0000-7000-8000-000000000001',
    '{01936d5c-0000-7000-8000-000000000001}',
    2 ** 31,
    2 ** 40,
    '1',
  ],
];

const cursorOf = (parts: unknown): string => Buffer.from(JSON.stringify(parts)).toString('base64url');

/** Replaces one part of a cursor by each of the invalid values. */
function spoiledCursors(parts: readonly unknown[], by: readonly unknown[]): unknown[][] {
  return parts.flatMap((_, at) => by.map((value) => parts.with(at, value)));
}

/** The lists whose cursors are encrypted, so that a cursor does not reveal how many entries exist. */
const sealed = lists.filter(([name]) => name === 'activity.list');

describe('a made-up cursor', () => {
  it.each(sealed)(
    'of %s, which is sealed, is refused with any letter but its own',
    async (_name, operation) => {
      const { token } = exampleCallerOf(operation, org).me;
      const [page] = await pagesOf(operation, 1);
      const real = page?.nextCursor ?? '';
      expect(real.length).toBeGreaterThan(20);
      const others = real.split('').map((letter, at) =>
        real
          .split('')
          .with(at, letter === 'A' ? 'z' : 'A')
          .join(''),
      );
      const made = [
        '',
        '%%%',
        'bm9wZQ',
        '\0',
        '1',
        cursorOf([1]),
        real.slice(1),
        real.slice(0, -4),
        `${real}AAAA`,
      ];
      for (const cursor of [...others, ...made, 'x'.repeat(1024), 'x'.repeat(1025)]) {
        const { status } = await api.call(token, operation.name, { limit: 1, cursor });
        expect([cursor, status]).toEqual([cursor, 400]);
      }
    },
  );

  it.each(lists.filter((list) => !sealed.includes(list)))(
    'of %s is refused, and never reaches Postgres',
    async (_name, operation) => {
      const { token } = exampleCallerOf(operation, org).me;
      const ask = (cursor: string) =>
        api.call(token, operation.name, { ...(operation.example as object), limit: 1, cursor });
      const holes = valuesMissedByValidation.count;
      const [page] = await pagesOf(operation, 1);
      const real = JSON.parse(Buffer.from(page?.nextCursor ?? '', 'base64url').toString()) as unknown[];
      const wrong: unknown[] = [
        ...spoiledCursors(real, impossibleCursorValues),
        ...[[], [...real, 1], real.slice(1), 1, null, 'a', {}],
      ];
      for (const parts of wrong) {
        const { status } = await ask(cursorOf(parts));
        expect([parts, status]).toEqual([parts, 400]);
      }
      for (const text of ['', '%%%', 'bm9wZQ', '\0', 'x'.repeat(1024), 'x'.repeat(1025)])
        expect([text, (await ask(text)).status]).toEqual([text, 400]);
      // Some of these made-up cursors may be valid for this list. None of them may cause an error of the
      // server.
      for (const parts of spoiledCursors(real, [...plausibleCursorValues, ...treacherous])) {
        const { status } = await ask(cursorOf(parts));
        expect([parts, [200, 400].includes(status)]).toEqual([parts, true]);
      }
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.constantFrom(...impossibleCursorValues, ...plausibleCursorValues, ...treacherous), {
            maxLength: 4,
          }),
          async (parts) => {
            expect([200, 400]).toContain((await ask(cursorOf(parts))).status);
          },
        ),
        { numRuns: 30 },
      );
      expect(valuesMissedByValidation.count).toBe(holes);
    },
  );
});

/**
 * Another organization's records are indistinguishable from missing ones, with both layers of tenant
 * isolation and with either one alone.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type Operation } from '@muster/contract';
import { operations } from '@muster/registry';
import { handlers } from '@muster/operations';
import { handlersByOperation, createAuthenticator, execute, toApiError } from '@muster/runtime';
import { checkEachCase } from '@muster/testing';
import { type ExampleOrg, createExampleOrg } from '@muster/examples';
import { useApi } from './api.ts';
import { type RefField, refFields, withLeaf } from './fields.ts';

const api = useApi();
const { world } = api;

const fields = [...operations.values()].flatMap((operation) =>
  refFields(operation).map(
    (field) => [`${operation.name} ${field.path.join('.')}`, operation, field] as const,
  ),
);

/** Returns the example with the field under test, without the parameter that excludes it. */
function exampleWith(operation: Operation, field: RefField, id: string): unknown {
  const drop: Record<string, string> = {
    columnId: 'status',
    afterStoryId: 'beforeStoryId',
    toAgentId: 'toMemberId',
    agentId: 'slug',
    waitingFor: 'requestStop',
  };
  const rival = drop[String(field.path[0])];
  const without = operation.name === 'stories.updateStatus' ? undefined : rival;
  const example = Object.fromEntries(
    Object.entries(operation.example).filter(([param]) => param !== without),
  );
  return withLeaf(example, field.path, id);
}

/** A statement that checksums each table's rows of the organization. */
let everything: string;
beforeAll(async () => {
  const tables = await world.rows<{ name: string }>(
    // Skips the table of tokens, because the last use of a token is updated in the background.
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'org_id' and table_name <> 'tokens' order by 1`,
  );
  expect(tables.length).toBeGreaterThan(20);
  everything = tables
    .map(
      ({ name }) =>
        `select '${name}' as name, md5(string_agg(t::text, '|' order by t::text)) as sum from ${name} t where org_id = $1`,
    )
    .join(' union all ')
    .concat(' order by name');
});

/**
 * Returns a checksum per table. Equal checksums before and after mean that nothing of the organization
 * changed.
 */
const tableDigestsOf = (orgId: string): Promise<{ name: string; sum: string | null }[]> =>
  world.rows(everything, orgId);

describe('a foreign id in any field of any operation', () => {
  it('is answered like one that does not exist', async () => {
    const theirs = await createExampleOrg(world, { ids: 'fresh' });
    // One organization for all fields: a write that names a missing record is refused and changes nothing.
    const mine = await createExampleOrg(world, { visibility: 'org', slug: 'own' });
    const before = await tableDigestsOf(theirs.orgId);
    await checkEachCase(fields, async (operation, field) => {
      const ask = (id: string) =>
        api.call(mine.ana.me.token, operation.name, exampleWith(operation, field, id), {
          'x-request-id': 'same',
        });
      const [nowhere, there] = [newId(), theirs.records[field.kind]];
      const nonexistent = await ask(nowhere);
      const foreign = await ask(there);
      expect([foreign.status, foreign.body.code]).toEqual([nonexistent.status, nonexistent.body.code]);
      // Refusals and reads return identical text. A write with an unknown filter may succeed, and then
      // differs only in new ids. A result for one of several records repeats the id that was sent.
      expect(foreign.text.replaceAll(there, nowhere)).toBe(nonexistent.text);
      expect(foreign.status).not.toBe(500);
      if (operation.effect === 'write') expect(await tableDigestsOf(theirs.orgId)).toEqual(before);
    });
    expect(await tableDigestsOf(theirs.orgId)).toEqual(before);
  }, 300_000);
});

describe('with row security switched off, the organization in every query alone', () => {
  const alone = useApi();

  it('refuses every foreign id', async () => {
    const { world: open } = alone;
    const guarded = await open.rows<{ name: string }>(
      `select relname as name from pg_class where relrowsecurity and relnamespace = 'public'::regnamespace`,
    );
    expect(guarded.length).toBeGreaterThan(20);
    for (const { name } of guarded)
      await open.rows(`alter table ${name} disable row level security, no force row level security`);
    const theirs = await createExampleOrg(open, { ids: 'fresh' });
    const mine = await createExampleOrg(open, { visibility: 'org' });
    await checkEachCase(fields, async (operation, field) => {
      const ask = (id: string) =>
        alone.call(mine.ana.me.token, operation.name, exampleWith(operation, field, id), {
          'x-request-id': 'same',
        });
      const [nowhere, there] = [newId(), theirs.records[field.kind]];
      const nonexistent = await ask(nowhere);
      expect((await ask(there)).text.replaceAll(there, nowhere)).toBe(nonexistent.text);
    });
  }, 300_000);
});

describe('with the organization in the queries wrong, row security alone', () => {
  it('keeps a caller whose queries name another organization out of it', async () => {
    const mine = await createExampleOrg(world, { visibility: 'org' });
    const theirs = await createExampleOrg(world, { visibility: 'org' });
    const before = await tableDigestsOf(theirs.orgId);
    const authenticator = createAuthenticator(world.database.app);
    const held = await authenticator.authenticate(mine.ana.me.token);
    for (const handler of handlersByOperation(handlers).values()) {
      const { operation } = handler;
      // The authorization check uses the token's hash; the handler's statements use this organization.
      const token = { ...held, identity: { ...held.identity, orgId: theirs.orgId } };
      const outcome = await execute(world.database.app, handler, {
        token,
        params: operation.example,
        requestId: 'canary',
        idempotencyKey: null,
        ip: null,
        userAgent: null,
      }).then(
        (answer) => answer.json,
        (error: unknown) => toApiError(error).code,
      );
      expect([operation.name, contains(outcome, theirs)]).toEqual([operation.name, false]);
    }
    await authenticator.close();
    expect(await tableDigestsOf(theirs.orgId)).toEqual(before);
  });
});

/** Returns true if a response reveals anything about the other organization. */
const contains = (text: string, org: ExampleOrg): boolean =>
  [org.records.project, org.records.story, org.records.member, org.slug].some((canary) =>
    text.includes(canary),
  );

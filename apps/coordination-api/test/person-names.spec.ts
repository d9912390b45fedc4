/** Members and agents can be named by handle or slug wherever their ids are accepted. */
import { expect, it } from '@jest/globals';
import { type Operation } from '@muster/contract';
import { operations } from '@muster/registry';
import { createAuthenticator, execute, refusal } from '@muster/runtime';
import { checkEachCase } from '@muster/testing';
import { exampleCallerOf, createExampleOrg } from '@muster/examples';
import { useApi } from './api.ts';
import { type RefField, refFields, withLeaf } from './fields.ts';

const api = useApi();
const { world } = api;

const fields = [...operations.values()].flatMap((operation) =>
  refFields(operation)
    .filter(({ takesName }) => takesName)
    .map((field) => [`${operation.name} ${field.path.join('.')}`, operation, field] as const),
);

/** Parameters that exclude the one under test. */
const rivals: Readonly<Record<string, string>> = {
  ...{ toAgentId: 'toMemberId', agentId: 'memberId', memberId: 'agentId' },
};

function exampleWith({ example }: Operation, { path }: RefField, name: string): unknown {
  const rival = rivals[String(path[0])];
  const kept = Object.entries(example).filter(([param]) => param !== rival);
  const filled = path[0] === 'blocked' ? { blocked: { kind: 'external', note: '' } } : {};
  return withLeaf({ ...Object.fromEntries(kept), ...filled }, path, name);
}

const valueAtPath = (value: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce((inner, step) => (inner as Record<string | number, unknown>)[step], value);

it('gives every handler the id of the member or agent that a handle or slug names', async () => {
  expect(fields.length).toBeGreaterThan(35);
  const org = await createExampleOrg(world);
  const [named] = await world.rows<{ member: string; agent: string }>(
    `select (select handle from members where org_id = $1 and id = $2) as member,
            (select slug from agents where org_id = $1 and id = $3) as agent`,
    org.orgId,
    org.records.member,
    org.records.agent,
  );
  const authenticator = createAuthenticator(world.database.app);
  await checkEachCase(fields, async (operation, field) => {
    const { path, kind } = field;
    const name = named?.[kind as 'member' | 'agent'] ?? '';
    const token = await authenticator.authenticate(exampleCallerOf(operation, org).me.token);
    for (const form of [name, `@${name}`, ` @${name.toUpperCase()}`]) {
      let given: unknown;
      const call = {
        ...{ token, params: exampleWith(operation, field, form), requestId: 'named' },
        ...{ idempotencyKey: null, ip: null, userAgent: null },
      };
      const run = ({ params }: { readonly params: unknown }): never => {
        given = valueAtPath(params, path);
        throw refusal('already_exists');
      };
      await expect(execute(world.database.app, { operation, run }, call)).rejects.toBeDefined();
      expect([form, given]).toEqual([form, org.records[kind]]);
    }
  });
  await authenticator.close();
}, 300_000);

it('answers 404 with the place of a name that nobody has, and 400 for what is no name', async () => {
  const org = await createExampleOrg(world);
  await checkEachCase(fields, async (operation, field) => {
    const { path } = field;
    const { token } = exampleCallerOf(operation, org).me;
    const unknown = await api.call(token, operation.name, exampleWith(operation, field, '@nobody-here'));
    expect([unknown.status, unknown.body.code, unknown.body.details?.['path']]).toEqual([
      ...[404, 'not_found', path.join('.')],
    ]);
    const nameless = await api.call(token, operation.name, exampleWith(operation, field, 'a b@c'));
    expect([nameless.status, nameless.body.details?.issues?.[0]?.path]).toEqual([400, path.join('.')]);
  });
}, 300_000);

it("finds the caller's own agent first, then another member's if it is the only one of that slug", async () => {
  const { orgId, ana, ben, chloe, robo } = await api.org();
  const make = async (memberId: string, name: string): Promise<string> => {
    const [row] = await world.rows<{ id: string }>(
      `insert into agents (org_id, id, member_id, name) values ($1, gen_random_uuid(), $2, $3) returning id`,
      ...[orgId, memberId, name],
    );
    // Agents that exist for long may share a slug.
    await world.rows(`update agents set slug = lower(name) where id = $1`, row?.id);
    return row?.id ?? '';
  };
  const bensRobo = await make(ben.me.memberId, 'Robo');
  const scribe = await make(ben.me.memberId, 'Scribe');
  await chloe.projects.create({ key: 'WEB', name: 'Web', visibility: 'org' });
  await chloe.stories.create({ projectId: 'WEB', title: 'A story' });
  const assign = async (person: typeof ana, agentId: string) =>
    (await person.assignments.set({ targetType: 'story', targetId: 'WEB-1', agentId })).assignment.agent?.id;
  expect(await assign(ben, 'robo')).toBe(bensRobo);
  expect(await assign(chloe, '@robo')).toBe(robo.me.agentId);
  expect(await assign(ana, 'scribe')).toBe(scribe);
  await expect(assign(ana, 'robo')).rejects.toMatchObject({ code: 'not_found' });
  const [entry] = (await ana.audit.list({ operation: 'assignments.set', limit: 1 })).items;
  expect(entry?.target).toBe('WEB-1');
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { maxAgentsPerMember } from '@muster/contract';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeAssignment, arrangeProject, arrangeReview, arrangeStory } from '../../../test/work.ts';
import { organizationsHandlers } from '../../index.ts';

const world = useWorld(organizationsHandlers);
let people: PeopleOf<typeof world>;
beforeEach(async () => {
  people = await world.org();
});

const expectedRefusal = (status: number, reason: string, details: object = {}) => ({
  status,
  body: { details: { reason, ...details } },
});
const eventsOf = async (orgId: string) =>
  world.rows<{ kind: string; title: string }>(
    `select kind, subject ->> 'title' as title from activity where org_id = $1 order by seq`,
    orgId,
  );

describe('agents.create', () => {
  it('makes an agent of the caller, which acts by a token of its own', async () => {
    const { orgId, chloe } = people;
    const { agent } = await chloe.agents.create({ name: 'Claude Code' });
    expect(agent).toEqual({
      ...{ id: expect.any(String), name: 'Claude Code', slug: 'claude-code', memberId: chloe.me.memberId },
      ...{ createdAt: expect.any(String), retiredAt: null },
    });
    expect(await eventsOf(orgId)).toEqual([{ kind: 'agent.created', title: 'Claude Code' }]);
    const { token } = await chloe.tokens.create({ name: 'x', scopes: ['write'], agentId: agent.id });
    expect(token.agentId).toBe(agent.id);
  });

  it.each([
    ['Chloé’s Ägent', 'chloe-s-agent'],
    ['日本語', 'agent'],
    ['--', 'agent'],
    ['x'.repeat(120), 'x'.repeat(30)],
  ])('calls %s by the slug %s where none is given', async (name, slug) => {
    expect((await people.chloe.agents.create({ name })).agent).toMatchObject({ name, slug });
  });

  it('gives another slug where an agent or a member has it, and takes the one that is given', async () => {
    const { chloe, ben } = people;
    const { agent: first } = await chloe.agents.create({ name: 'Claude' });
    const { agent: second } = await chloe.agents.create({ name: 'claude!' });
    expect(second.slug).toBe('claude-2');
    expect((await chloe.agents.create({ name: 'Other', slug: 'other-1' })).agent.slug).toBe('other-1');
    // Agents of different members may have the same name.
    expect((await ben.agents.create({ name: 'Claude' })).agent).toMatchObject({
      name: first.name,
      slug: 'claude-3',
    });
    expect((await ben.agents.create({ name: 'Chloé' })).agent.slug).toBe(`${chloe.me.handle}-2`);
  });

  it.each(['ana-2', 'x'.repeat(50), '--'])(
    'numbers %s until the name is free, and fits a mention',
    async (name) => {
      const { orgId, dan } = people;
      const slugs = await world.rows<{ slug: string }>(
        `insert into agents (org_id, id, member_id, name)
         select $1, gen_random_uuid(), $2, $3 || repeat('!', n) from generate_series(1, 60) n returning slug`,
        ...[orgId, dan.me.memberId, name],
      );
      const wanted = slugs[0]?.slug ?? '';
      for (const { slug } of slugs) expect(slug).toMatch(/^[a-z0-9][a-z0-9-]{0,38}$/);
      expect(slugs.filter(({ slug }) => !slug.startsWith(wanted))).toEqual([]);
      const [free] = await world.rows<{ name: string }>(
        'select app.free_name($1, $2, 39) as name',
        orgId,
        wanted,
      );
      expect(new Set([...slugs.map(({ slug }) => slug), free?.name]).size).toBe(61);
    },
  );

  it.each([{ name: 'Robo' }, { name: 'Other', slug: 'robo' }])(
    'refuses %j, which is taken',
    async (params) => {
      const { chloe } = people;
      await expect(chloe.agents.create(params)).rejects.toMatchObject(expectedRefusal(409, 'already_exists'));
      // A retired agent keeps its name, because its past actions are recorded under it.
      await chloe.agents.retire({ agentId: people.robo.me.agentId ?? '' });
      await expect(chloe.agents.create(params)).rejects.toMatchObject(expectedRefusal(409, 'already_exists'));
    },
  );

  it.each(['Upper', '-a', 'a-', '', 'a'.repeat(41), 'ä'])('refuses the slug %j', async (slug) => {
    await expect(people.chloe.agents.create({ name: 'x', slug })).rejects.toMatchObject({ status: 400 });
  });

  it('is for members, and not for agents or tokens that are bound', async () => {
    const { orgId, chloe, dan, robo } = people;
    const bound = await world.token(orgId, chloe.me.memberId, {
      projectIds: [await arrangeProject(world, orgId, 'WEB')],
    });
    for (const [person, reason] of [
      [dan, 'role'],
      [robo, 'agents_may_not'],
      [bound, 'bound_token'],
    ] as const)
      await expect(person.agents.create({ name: 'x' })).rejects.toMatchObject(expectedRefusal(403, reason));
  });

  it('stops at fifty that are not retired, also when two make the last one', async () => {
    const { orgId, chloe, robo } = people;
    await world.rows(
      `insert into agents (org_id, id, member_id, name) select $1, gen_random_uuid(), $2, 'n' || n from generate_series(1, 49) n`,
      orgId,
      chloe.me.memberId,
    );
    const full = expectedRefusal(422, 'limit_exceeded', { limit: 'agents', max: maxAgentsPerMember });
    await expect(chloe.agents.create({ name: 'a' })).rejects.toMatchObject(full);
    await chloe.agents.retire({ agentId: robo.me.agentId ?? '' });
    const outcomes = await world.runUnderContention(
      { table: 'members', id: chloe.me.memberId },
      () => chloe.agents.create({ name: 'a' }),
      () => chloe.agents.create({ name: 'b' }),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: full });
  });
});

describe('agents.list', () => {
  it("shows one's own newest first, and those that are retired where they are asked for", async () => {
    const { chloe, ana, robo } = people;
    await ana.agents.create({ name: 'Butler' });
    for (const name of ['a', 'b']) await chloe.agents.create({ name });
    await chloe.agents.retire({ agentId: robo.me.agentId ?? '' });
    const names = async (params: object) => (await chloe.agents.list(params)).items.map(({ name }) => name);
    expect(await names({})).toEqual(['b', 'a']);
    expect(await names({ includeRetired: true })).toEqual(['b', 'a', 'Robo']);
    const first = await chloe.agents.list({ limit: 1 });
    expect(await names({ limit: 1, cursor: first.nextCursor })).toEqual(['a']);
  });

  it('shows all to admins with that scope, of this organization alone', async () => {
    const { orgId, ana, ben, chloe } = people;
    await world.org();
    await ana.agents.create({ name: 'Butler' });
    const names = async (person: PersonOf<typeof world>, params: object = {}) =>
      (await person.agents.list(params)).items.map(({ name }) => name);
    expect(await names(ben)).toEqual(['Butler', 'Robo']);
    expect(await names(ben, { memberId: chloe.me.memberId })).toEqual(['Robo']);
    const writer = await world.token(orgId, ben.me.memberId, { scopes: ['write'] });
    for (const person of [writer, chloe])
      await expect(names(person, { memberId: ana.me.memberId })).rejects.toMatchObject(
        expectedRefusal(403, 'role'),
      );
    expect(await names(chloe)).toEqual(['Robo']);
    expect(await names(writer)).toEqual([]);
  });
});

describe('agents.retire', () => {
  const retire = (person: PersonOf<typeof world>) =>
    person.agents.retire({ agentId: people.robo.me.agentId ?? '' });

  it('ends its tokens, and what it is assigned to or asked to review; its member keeps theirs', async () => {
    const { orgId, chloe, robo, ana } = people;
    const web = await arrangeProject(world, orgId, 'WEB');
    const [first, second] = [await arrangeStory(world, orgId, web), await arrangeStory(world, orgId, web)];
    await arrangeAssignment(world, orgId, first, { memberId: chloe.me.memberId, agentId: robo.me.agentId });
    await arrangeAssignment(world, orgId, second, { agentId: robo.me.agentId });
    await arrangeReview(world, orgId, first, robo);
    await arrangeReview(world, orgId, second, robo, 'approved');
    await arrangeReview(world, orgId, second, chloe);
    await robo.session.identity();

    const { agent } = await retire(chloe);
    expect(agent).toMatchObject({ name: 'Robo', retiredAt: expect.any(String) });
    await expect(robo.session.identity()).rejects.toMatchObject({ status: 401 });
    expect((await chloe.session.identity()).member.name).toBe('Chloé');
    expect(await world.rows('select member_id, agent_id from assignments where org_id = $1', orgId)).toEqual([
      { member_id: chloe.me.memberId, agent_id: null },
    ]);
    const reviews = await world.rows<{ verdict: string; agent: boolean }>(
      'select verdict, agent_id is not null as agent from story_reviewers where org_id = $1 order by verdict',
      orgId,
    );
    expect(reviews).toEqual([
      { verdict: 'approved', agent: true },
      { verdict: 'pending', agent: false },
    ]);
    expect(await eventsOf(orgId)).toEqual([{ kind: 'agent.retired', title: 'Robo' }]);
    // Retiring the agent again changes nothing and emits no event.
    expect((await retire(ana)).agent).toEqual(agent);
    expect(await eventsOf(orgId)).toHaveLength(1);
  });

  it("is for its member, and for admins with that scope; a refusal is in the audit, and another organization's is not there", async () => {
    const { orgId, ben, robo } = people;
    const eve = await world.member(orgId, 'Eve', 'member');
    const writer = await world.token(orgId, ben.me.memberId, { scopes: ['write'] });
    for (const [person, reason] of [
      [eve, 'not_own_agent'],
      [writer, 'not_own_agent'],
      [robo, 'agents_may_not'],
    ] as const)
      await expect(retire(person)).rejects.toMatchObject(expectedRefusal(403, reason));
    expect(
      await world.rows(
        `select reason from audit where org_id = $1 and outcome = 'denied' order by seq`,
        orgId,
      ),
    ).toEqual([{ reason: 'not_own_agent' }, { reason: 'not_own_agent' }, { reason: 'agents_may_not' }]);
    const theirs = await world.org();
    for (const agentId of [newId(), theirs.robo.me.agentId ?? ''])
      await expect(ben.agents.retire({ agentId })).rejects.toMatchObject({ status: 404 });
    expect((await retire(ben)).agent.retiredAt).toEqual(expect.any(String));
  });

  it.each(['agents', 'tokens'])(
    'leaves no token behind that is made at the same moment: %s',
    async (table) => {
      const { orgId, chloe, ana, robo } = people;
      const agentId = robo.me.agentId ?? '';
      const outcomes = await world.runUnderContention<unknown>(
        // In the case `tokens`, the retirement has already locked the agent when it waits for the agent's
        // tokens. The creation of a token then waits for the agent.
        { table, id: agentId, column: table === 'agents' ? 'id' : 'agent_id' },
        async () => {
          if (table === 'tokens') await world.waitUntilBlocked(1);
          return chloe.tokens.create({ name: 'x', scopes: ['write'], agentId });
        },
        () => ana.agents.retire({ agentId }),
      );
      expect(outcomes[1]?.status).toBe('fulfilled');
      expect(
        await world.rows(
          'select from tokens where org_id = $1 and agent_id = $2 and revoked_at is null',
          orgId,
          agentId,
        ),
      ).toEqual([]);
    },
  );
});

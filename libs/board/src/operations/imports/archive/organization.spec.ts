/** Tests that an import of an archive brings the records of the organization only if an admin imports. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type InputOf } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { readArchiveLines } from '../../../../test/archive-lines.ts';
import { fillProject } from '../../../../test/archived-project.ts';
import { arrangeBoard } from '../../../../test/board.ts';
import { arrangeTeam } from '../../../../test/team.ts';
import { boardHandlers } from '../../../index.ts';

const world = useWorld(boardHandlers);

type Line = InputOf<typeof boardRegistry.imports.put>['items'][number];

let original: PeopleOf<typeof world>;
let people: PeopleOf<typeof world>;
let lines: Record<string, unknown>[];

beforeEach(async () => {
  original = await world.org();
  await fillProject(world, original);
  lines = await readArchiveLines({ ...original, rows: world.rows, person: original.ana, projectId: 'WEB' });
  people = await world.org();
  await arrangeBoard(world, people.orgId);
});

/** Imports lines with a new import. Returns its id and the results of lines of the organization. */
async function importAll(
  items: readonly object[] = lines,
  person: PersonOf<typeof world> = people.ana,
  projectId = 'WEB',
) {
  const { import: begun } = await person.imports.begin({ projectId, provider: 'muster', name: 'Archive' });
  const put = await person.imports.put({ importId: begun.id, items: items as Line[] });
  const results = put.results.filter((_, index) => {
    const { type, projectId: id } = items[index] as Record<string, unknown>;
    return type === 'teams' || type === 'agents' || id === null;
  });
  return { importId: begun.id, results };
}
const outcomesOf = ({ results }: Awaited<ReturnType<typeof importAll>>) =>
  results.map(({ outcome }) => outcome);
/** Reads the records of the organization. */
async function readOrganization({ orgId, ana }: PeopleOf<typeof world> = people) {
  const names = async (table: string, column: string) =>
    (
      await world.rows<{ name: string }>(
        `select ${column} as name from ${table} where org_id = $1 order by 1`,
        orgId,
      )
    ).map(({ name }) => name);
  const views = (await ana.views.list({})).items.filter(({ projectId }) => projectId === null);
  return {
    teams: await names('teams', 'name'),
    agents: await names('agents', 'slug'),
    prompts: (await ana.prompts.org.list({})).items.map(({ slug }) => slug),
    views: views.map(({ name }) => name),
  };
}
const nothing = { teams: [], agents: ['robo'], prompts: [], views: [] };
const everything = {
  teams: ['Empty', 'Mobile'],
  agents: ['old', 'robo', 'scout'],
  prompts: ['review', 'start'],
  views: ['Everything', 'Accounts'],
};
const makeLead = (member: PersonOf<typeof world>) =>
  world.rows(
    `insert into project_members (org_id, project_id, member_id, role)
     select org_id, id, $2, 'lead' from projects where org_id = $1`,
    ...[people.orgId, member.me.memberId],
  );

describe('an import', () => {
  it('brings the records of the organization, once, with their authors', async () => {
    expect(new Set(outcomesOf(await importAll()))).toEqual(new Set(['created', 'unchanged']));
    expect(await readOrganization()).toEqual(everything);
    const [prompt] = (await people.ana.prompts.org.list({ slug: 'review' })).items;
    expect(prompt).toMatchObject({
      ...{ createdBy: { memberId: people.ana.me.memberId }, importedFrom: 'muster' },
    });
    expect(new Set(outcomesOf(await importAll()))).toEqual(new Set(['unchanged']));
    expect(await readOrganization()).toEqual(everything);
  });

  it('of another project finds the records of the first one', async () => {
    await importAll();
    await arrangeBoard(world, people.orgId, { key: 'API' });
    const again = await importAll(lines, people.ana, 'API');
    expect(new Set(outcomesOf(again))).toEqual(new Set(['unchanged']));
    expect(await readOrganization()).toEqual(everything);
    expect((await people.ana.projects.teams.list({ projectId: 'API' })).items).toMatchObject([
      { team: { name: 'Mobile' }, role: 'contributor' },
    ]);
  });

  it('keeps a team and a prompt that the organization has, and adds no one to the team', async () => {
    const teamId = await arrangeTeam(world, people.orgId, { name: 'MOBILE', members: [people.dan] });
    await people.ana.prompts.org.upsert({ slug: 'start', title: 'Ours', body: 'Ours' });
    const { results } = await importAll();
    const kept = results.filter(({ outcome }) => outcome === 'kept');
    expect(kept.map(({ issues: [issue] }) => issue?.message)).toEqual([
      'The organization has a team with this name already. It stays as it is.',
      'The organization has a prompt with this name already. It stays as it is.',
    ]);
    expect(kept[0]?.recordId).toBe(teamId);
    const members = await world.rows('select member_id from team_members where team_id = $1', teamId);
    expect(members).toEqual([{ member_id: people.dan.me.memberId }]);
    expect((await people.ana.prompts.org.list({ slug: 'start' })).items).toMatchObject([{ title: 'Ours' }]);
  });

  it('gives only as many agents to a member as the member may have', async () => {
    await world.rows(
      `insert into agents (org_id, id, member_id, name, slug)
       select $1, gen_random_uuid(), $2, 'Agent ' || n, 'agent-' || n from generate_series(1, 50) n`,
      ...[people.orgId, people.ben.me.memberId],
    );
    const { results } = await importAll(lines.filter(({ type }) => type === 'members' || type === 'agents'));
    expect(results.filter(({ outcome }) => outcome === 'kept')).toMatchObject([
      { issues: [{ message: 'Its member has 50 agents already. Only the name is kept.' }] },
    ]);
  });

  it('takes in an agent whose slug someone else has under another slug', async () => {
    await world.rows(
      `insert into agents (org_id, id, member_id, name, slug) values ($1, gen_random_uuid(), $2, 'Scout', 'scout')`,
      ...[people.orgId, people.dan.me.memberId],
    );
    await importAll();
    expect((await readOrganization()).agents).toEqual(['old', 'robo', 'scout', 'scout-2']);
    await importAll();
    expect((await readOrganization()).agents).toEqual(['old', 'robo', 'scout', 'scout-2']);
    await arrangeBoard(world, people.orgId, { key: 'API' });
    expect(new Set(outcomesOf(await importAll(lines, people.ana, 'API')))).toEqual(new Set(['unchanged']));
    expect((await readOrganization()).agents).toEqual(['old', 'robo', 'scout', 'scout-2']);
  });
});

describe('authority', () => {
  it.each(['a lead', 'an admin without the scope', 'an admin with a token for the project'])(
    'of %s does not reach the organization',
    async (who) => {
      const { orgId, ana, chloe } = people;
      const [project] = await world.rows<{ id: string }>('select id from projects where org_id = $1', orgId);
      await makeLead(chloe);
      const person =
        who === 'a lead'
          ? chloe
          : await world.token(orgId, ana.me.memberId, {
              ...(who === 'an admin without the scope'
                ? { scopes: ['read', 'write'] as const }
                : { scopes: ['read', 'write', 'admin'] as const, projectIds: [project?.id ?? ''] }),
            });
      await makeLead(ana);
      const { results, importId } = await importAll(lines, person);
      expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['kept', 'unchanged']));
      expect(await readOrganization()).toEqual(nothing);
      expect((await ana.projects.teams.list({ projectId: 'WEB' })).items).toEqual([]);
      await person.imports.undo({ importId });
    },
  );

  it('of a lead does not use the teams that an admin imported', async () => {
    const { ana, chloe } = people;
    await makeLead(chloe);
    const { import: begun } = await ana.imports.begin({
      projectId: 'WEB',
      provider: 'muster',
      name: 'Archive',
    });
    const put = (person: PersonOf<typeof world>, types: readonly string[]) =>
      person.imports.put({
        importId: begun.id,
        items: lines.filter(({ type }) => types.includes(String(type))) as Line[],
      });
    await put(ana, ['members', 'agents', 'teams']);
    await put(chloe, ['projects']);
    expect((await ana.projects.teams.list({ projectId: 'WEB' })).items).toEqual([]);
  });
});

describe('undoing an import', () => {
  it('deletes the records of the organization that it created', async () => {
    const { importId } = await importAll();
    await people.ana.imports.undo({ importId });
    expect(await readOrganization()).toEqual(nothing);
    expect(
      await world.rows(
        `select kind, record_id from import_items where org_id = $1 and kind in ('team', 'prompt', 'view')`,
        people.orgId,
      ),
    ).toEqual([]);
    await importAll();
    expect(await readOrganization()).toEqual(everything);
  });

  it('keeps what was changed or used since', async () => {
    const { importId } = await importAll();
    const { orgId, ana, dan } = people;
    await arrangeBoard(world, orgId, { key: 'API' });
    const [mobile] = await world.rows<{ id: string }>(
      `select id from teams where org_id = $1 and name = 'Mobile'`,
      orgId,
    );
    await ana.projects.assignTeam({ projectId: 'API', teamId: mobile?.id ?? '', role: 'viewer' });
    await world.rows(
      `insert into team_members (org_id, team_id, member_id, role)
       select org_id, id, $2, 'member' from teams where org_id = $1 and name = 'Empty'`,
      ...[orgId, dan.me.memberId],
    );
    const [scout] = await world.rows<{ id: string }>(
      `select id from agents where org_id = $1 and slug = 'scout'`,
      orgId,
    );
    const { story } = await ana.stories.create({ projectId: 'API', title: 'Look around' });
    await ana.assignments.set({ targetType: 'story', targetId: story.id, agentId: scout?.id ?? '' });
    await ana.prompts.org.upsert({ slug: 'review', title: 'Ours', body: 'Ours' });
    const [view] = (await ana.views.list({})).items.filter(({ name }) => name === 'Everything');
    await ana.views.update({ viewId: view?.id ?? '', name: 'All' });
    await ana.imports.undo({ importId });
    expect(await readOrganization()).toEqual({
      ...{ teams: ['Empty', 'Mobile'], agents: ['robo', 'scout'], prompts: ['review'], views: ['All'] },
    });
  });

  it('keeps a team with a role in the project as long as a story of the import is kept', async () => {
    const { importId } = await importAll();
    const [story] = (await people.ana.stories.list({ projectId: 'WEB' })).items;
    await people.ana.stories.update({ storyId: story?.id ?? '', title: 'Changed' });
    expect((await people.ana.imports.undo({ importId })).kept).toHaveLength(1);
    expect((await readOrganization()).teams).toEqual(['Mobile']);
  });

  it('by a lead keeps the records of the organization', async () => {
    const { importId } = await importAll();
    await makeLead(people.chloe);
    await people.chloe.imports.undo({ importId });
    expect((await people.ana.stories.list({ projectId: 'WEB' })).items).toEqual([]);
    expect(await readOrganization()).toEqual(everything);
  });
});

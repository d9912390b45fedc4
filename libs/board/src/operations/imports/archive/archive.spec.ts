/** Tests that an import of an archive restores a project, and gives its caller no additional rights. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type InputOf } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { readArchiveLines, readLists, withoutIds } from '../../../../test/archive-lines.ts';
import { fillProject } from '../../../../test/archived-project.ts';
import { arrangeBoard } from '../../../../test/board.ts';
import { wrongCounts } from '../../../../test/true-counts.ts';
import { boardHandlers } from '../../../index.ts';

const world = useWorld(boardHandlers);

type Line = InputOf<typeof boardRegistry.imports.put>['items'][number];

let originalOrg: PeopleOf<typeof world>;
let people: PeopleOf<typeof world>;
let lines: Record<string, unknown>[];
let projectId: string;

beforeEach(async () => {
  originalOrg = await world.org({ policy: { requiredApprovals: 0 } });
  await fillProject(world, originalOrg);
  lines = await readArchiveLines(createReader(originalOrg));
  people = await world.org({ policy: { requiredApprovals: 1, authorMayApprove: true } });
  ({ projectId } = await arrangeBoard(world, people.orgId));
});

const createReader = ({ ana, orgId }: PeopleOf<typeof world>) => ({
  rows: world.rows,
  orgId,
  person: ana,
  projectId: 'WEB',
});
const withoutContracts = (listed: unknown) => ({
  ...(listed as object),
  ...{ contracts: null, contractVersions: null, contractsOfStories: null },
});
const readOrgLists = async (org: PeopleOf<typeof world>) => withoutIds(await readLists(createReader(org)));
const begin = async (person: PersonOf<typeof world> = people.ana) =>
  (await person.imports.begin({ projectId: 'WEB', provider: 'muster', name: 'Archive' })).import.id;
const put = async (importId: string, items: object[], person: PersonOf<typeof world> = people.ana) =>
  (await person.imports.put({ importId, items: items as Line[] })).results;
/** Imports the lines in puts of a few lines each. */
async function importAll(items: readonly object[], person: PersonOf<typeof world> = people.ana, size = 7) {
  const importId = await begin(person);
  const results = [];
  for (let start = 0; start < items.length; start += size)
    results.push(...(await put(importId, items.slice(start, start + size), person)));
  await person.imports.finish({ importId });
  return { importId, results };
}
const ofType = (...types: string[]) => lines.filter(({ type }) => types.includes(String(type)));
/** The lines of these types without those of the organization. */
const ofProject = (...types: string[]) => ofType(...types).filter(({ projectId: id }) => id !== null);

describe('an import of an archive', () => {
  it('equals the original in every list', async () => {
    const { results } = await importAll(lines);
    expect(results.filter(({ issues }) => issues.length > 0)).toEqual([]);
    expect(await readOrgLists(people)).toEqual(await readOrgLists(originalOrg));
    expect(await wrongCounts(world, projectId)).toEqual([]);
  });

  it('differs if a field of a line is missing', async () => {
    const [story] = ofType('stories');
    await importAll(lines.map((line) => (line === story ? { ...line, labels: [] } : line)));
    expect(await readOrgLists(people)).not.toEqual(await readOrgLists(originalOrg));
  });

  it('is the same in one put', async () => {
    await importAll(lines, people.ana, 200);
    expect(await readOrgLists(people)).toEqual(await readOrgLists(originalOrg));
  });

  it('changes nothing when lines are repeated', async () => {
    const { importId } = await importAll(lines);
    const before = await readLists(createReader(people));
    await expect(put(importId, lines)).rejects.toMatchObject({ status: 409 });
    const { results } = await importAll(lines);
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['unchanged']));
    expect(await readLists(createReader(people))).toEqual(before);
  });

  it('goes on after a break', async () => {
    const importId = await begin();
    await put(importId, lines.slice(0, 20));
    await importAll(lines);
    expect(await readOrgLists(people)).toEqual(await readOrgLists(originalOrg));
  });

  it('gives new numbers in a project with stories, and adds no columns', async () => {
    await people.ana.stories.create({ projectId: 'WEB', title: 'Here' });
    const { results } = await importAll(lines);
    const keys = results.flatMap(({ externalId, key }) =>
      ofType('stories').some(({ id }) => id === externalId) ? [key] : [],
    );
    expect([...new Set(keys)]).toEqual(['WEB-2', 'WEB-3', 'WEB-4', 'WEB-5']);
    const { items } = await people.ana.boardColumns.list({ projectId: 'WEB' });
    expect(items.map(({ name }) => name)).toEqual(['backlog', 'ready', 'in_progress', 'in_review', 'done']);
    expect(await wrongCounts(world, projectId)).toEqual([]);
  });

  it('keeps a column that was added during the import', async () => {
    const importId = await begin();
    await put(importId, ofType('members', 'projects', 'columns'));
    await people.ana.boardColumns.create({ projectId: 'WEB', name: 'Blocked', status: 'ready' });
    await people.ana.imports.finish({ importId });
    const { items } = await people.ana.boardColumns.list({ projectId: 'WEB' });
    expect(items.map(({ name, position }) => [name, position])).toEqual(
      ['backlog', 'Next', 'in_progress', 'in_review', 'done', 'Testing', 'Blocked'].map((name, position) => [
        ...[name, position],
      ]),
    );
  });

  it('can be undone', async () => {
    const { importId } = await importAll(lines);
    const { removed, kept } = await people.ana.imports.undo({ importId });
    expect([removed, kept]).toEqual([4, []]);
    expect((await people.ana.epics.list({ projectId: 'WEB' })).items).toEqual([]);
    await importAll(lines);
    expect(withoutContracts(await readOrgLists(people))).toEqual(
      withoutContracts(await readOrgLists(originalOrg)),
    );
    expect(await wrongCounts(world, projectId)).toEqual([]);
  });

  it('keeps contracts when it is undone, since published versions are never deleted', async () => {
    const { importId } = await importAll(lines);
    await people.ana.imports.undo({ importId });
    const { items } = await people.ana.contracts.list({ projectId: 'WEB', slug: 'users' });
    expect(items.map(({ version, storyId }) => [version, storyId])).toEqual([
      [2, null],
      [1, null],
    ]);
    expect((await people.ana.prompts.project.list({ projectId: 'WEB' })).items).toEqual([]);
    expect((await people.ana.views.list({ projectId: 'WEB' })).items).toEqual([]);
  });

  it('keeps prompts and views that were changed here, when it is undone', async () => {
    const { importId } = await importAll(lines);
    const { ana } = people;
    await ana.prompts.project.upsert({ projectId: 'WEB', slug: 'start', title: 'Start', body: 'Changed' });
    const [view] = (await ana.views.list({ projectId: 'WEB' })).items;
    await ana.views.update({ viewId: view?.id ?? '', name: 'Renamed' });
    await ana.imports.undo({ importId });
    expect((await ana.prompts.project.list({ projectId: 'WEB' })).items).toMatchObject([{ body: 'Changed' }]);
    expect((await ana.views.list({ projectId: 'WEB' })).items).toMatchObject([{ name: 'Renamed' }]);
  });

  it('keeps an epic that was assigned here, when it is undone', async () => {
    const { importId } = await importAll(lines);
    const [epic] = (await people.ana.epics.list({ projectId: 'WEB' })).items;
    const memberId = people.chloe.me.memberId;
    await people.ana.assignments.set({ targetType: 'epic', targetId: epic?.id ?? '', memberId });
    await people.ana.imports.undo({ importId });
    expect((await people.ana.epics.list({ projectId: 'WEB' })).items).toMatchObject([{ id: epic?.id }]);
  });

  it('keeps columns that were added between two imports', async () => {
    await importAll(lines);
    await people.ana.boardColumns.create({ projectId: 'WEB', name: 'Blocked', status: 'ready' });
    await importAll(lines);
    const { items } = await people.ana.boardColumns.list({ projectId: 'WEB' });
    expect(items.map(({ name }) => name)).toContain('Blocked');
  });

  it('changes nothing of a project that got stories of its own after an import', async () => {
    await importAll(lines);
    const { ana } = people;
    await ana.stories.create({ projectId: 'WEB', title: 'Here' });
    await ana.projects.update({ projectId: 'WEB', name: 'Renamed' });
    const before = (await ana.boardColumns.list({ projectId: 'WEB' })).items.map(({ name }) => name);
    // The archive of another project, whose records have other ids.
    const others = JSON.stringify(lines).replaceAll(
      /"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{11})([0-9a-f])"/g,
      (_, start: string, last: string) => `"${start}${((parseInt(last, 16) + 1) % 16).toString(16)}"`,
    );
    await importAll(JSON.parse(others) as object[]);
    expect((await ana.projects.get({ projectId: 'WEB' })).project.name).toBe('Renamed');
    expect((await ana.boardColumns.list({ projectId: 'WEB' })).items.map(({ name }) => name)).toEqual(before);
    expect(await wrongCounts(world, projectId)).toEqual([]);
  });
});

describe('a document of an archive', () => {
  it('stays as it is where the project has one of the same name', async () => {
    const { ana } = people;
    await ana.prompts.project.upsert({ projectId: 'WEB', slug: 'start', title: 'Ours', body: 'Ours' });
    await ana.contracts.publish({ projectId: 'WEB', slug: 'users', kind: 'markdown', content: 'Ours' });
    const { results } = await importAll(lines);
    const documents = ofProject('prompts', 'contracts').map(({ id }) => id);
    const kept = results.filter(({ externalId }) => documents.includes(externalId));
    expect(kept.map(({ outcome }) => outcome)).toEqual(['kept', 'kept', 'kept']);
    expect((await ana.prompts.project.list({ projectId: 'WEB' })).items).toMatchObject([{ title: 'Ours' }]);
    const { items } = await ana.contracts.list({ projectId: 'WEB', slug: 'users', includeContent: true });
    expect(items).toMatchObject([{ version: 1, content: 'Ours' }]);
  });

  it('of another project is not imported', async () => {
    const importId = await begin();
    await put(importId, ofType('members', 'projects'));
    const results = await put(
      importId,
      ofType('prompts', 'views').map((line) => ({ ...line, projectId: originalOrg.ana.me.memberId })),
    );
    const said = new Set(results.map(({ outcome, issues: [issue] }) => `${outcome} ${issue?.path}`));
    expect(said).toEqual(new Set(['refused projectId']));
  });

  it('gets no version that was published here since', async () => {
    const importId = await begin();
    const [first, second] = ofType('contracts');
    await put(importId, [...ofType('members', 'projects'), { ...first }]);
    const contract = { projectId: 'WEB', slug: 'users', kind: 'markdown' } as const;
    await people.ana.contracts.publish({ ...contract, content: 'Ours' });
    const third = { ...second, version: 3 };
    expect(await put(importId, [{ ...second }, third])).toMatchObject([
      { outcome: 'unchanged' },
      { outcome: 'kept' },
    ]);
  });

  it('as a view is left out if its filter names people by handles, or records that were not imported', async () => {
    const importId = await begin();
    await put(importId, ofType('members', 'agents', 'projects', 'columns', 'epics'));
    const [view] = ofProject('views');
    const filters = [{ assigneeId: 'ben' }, { agentId: 'robo' }, { epicId: originalOrg.ana.me.memberId }];
    const results = await put(
      importId,
      filters.map((filter) => ({ ...view, filter })),
    );
    expect(results.map(({ outcome }) => outcome)).toEqual(['kept', 'kept', 'kept']);
  });

  it('as a contract names no story that was deleted here since its import', async () => {
    const importId = await begin();
    await put(importId, ofType('members', 'agents', 'projects', 'columns', 'epics', 'stories'));
    for (const { id } of (await people.ana.stories.list({ projectId: 'WEB' })).items)
      await people.ana.stories.delete({ storyId: id });
    const results = await put(importId, ofType('contracts'));
    expect(results.map(({ outcome }) => outcome)).toEqual(['created', 'created']);
    expect((await people.ana.contracts.list({ projectId: 'WEB' })).items).toMatchObject([
      { storyId: null, importedBy: { memberId: people.ana.me.memberId }, importedFrom: 'muster' },
    ]);
    await put(importId, ofType('prompts'));
    expect((await people.ana.prompts.project.list({ projectId: 'WEB' })).items).toMatchObject([
      { importedBy: { memberId: people.ana.me.memberId }, importedFrom: 'muster' },
    ]);
  });

  it('as a view belongs to the importing member, unless an admin imports', async () => {
    const { ana, chloe } = people;
    await ana.projects.members.add({ projectId: 'WEB', memberId: chloe.me.memberId, role: 'lead' });
    const [view] = ofProject('views');
    const importId = await begin(chloe);
    const board = ofType('members', 'agents', 'projects', 'columns', 'epics');
    await put(importId, board, chloe);

    expect(
      await put(importId, [{ ...view }, { ...view, id: originalOrg.ana.me.memberId, shared: false }], chloe),
    ).toMatchObject([{ outcome: 'created' }, { outcome: 'kept' }]);
    expect((await chloe.views.list({ projectId: 'WEB' })).items).toMatchObject([
      { owner: { id: chloe.me.memberId }, shared: true },
    ]);
  });
});

describe('a line', () => {
  it('is refused alone, and says why', async () => {
    const importId = await begin();
    const [project, epic] = [ofType('projects')[0], ofType('epics')[0]];
    const results = await put(importId, [
      { ...epic, projectId: originalOrg.ana.me.memberId },
      { ...project },
      { ...project, id: originalOrg.ana.me.memberId },
      { ...epic, title: '' },
      { ...epic },
      { ...epic },
      { type: 'stories' },
      { type: 'activity', id: 'x' },
      { externalId: 'OPS-1', title: 'Of a tracker' },
      ...ofType('specs'),
    ]);
    const said = results.map(({ outcome, issues: [issue] }) => [outcome, issue?.path]);
    expect(said.slice(0, 9)).toEqual([
      ['refused', 'projectId'],
      ['updated', 'teams'],
      ['refused', 'id'],
      ['refused', 'title'],
      ['created', undefined],
      ['refused', 'id'],
      ['refused', 'id'],
      ['unchanged', 'type'],
      ['refused', 'type'],
    ]);
    expect(new Set(said.slice(9).map(String))).toEqual(new Set(['refused,storyId']));
  });

  it('can be in a put twice', async () => {
    const importId = await begin();
    const people = ofType('members', 'agents', 'projects', 'columns');
    const results = await put(
      importId,
      people.flatMap((line) => [line, line]),
    );
    const repeated = results.filter((_, index) => index % 2 === 1).map(({ outcome }) => outcome);
    const isMatchedAgain = (type: unknown) => type === 'members' || type === 'agents';
    expect(repeated).toEqual(people.map(({ type }) => (isMatchedAgain(type) ? 'unchanged' : 'refused')));
  });

  it('takes no place of a later line when it is refused', async () => {
    const importId = await begin();
    await put(importId, ofType('members', 'agents', 'projects', 'columns', 'epics', 'stories', 'specs'));
    const line = ofType('reviewers').find(({ verdict }) => verdict === 'changes_requested');
    const results = await put(importId, [{ ...line, note: null }, { ...line }]);
    expect(results.map(({ outcome }) => outcome)).toEqual(['refused', 'created']);
  });

  it('is refused in an import of a tracker', async () => {
    const { import: begun } = await people.ana.imports.begin({
      ...{ projectId: 'WEB', provider: 'jira', name: 'Jira' },
    });
    await expect(put(begun.id, ofType('epics'))).rejects.toMatchObject({ status: 400 });
  });

  it('keeps the board usable, whatever rank, column and number it has', async () => {
    const importId = await begin();
    const [story] = ofType('stories');
    const variants = [
      { rank: 'zz zz' },
      { rank: '\u{10ffff}' },
      { columnId: originalOrg.ana.me.memberId },
      { number: 2_000_000_000 },
      {},
      {},
    ];
    const results = await put(importId, [
      ...ofType('projects', 'columns'),
      ...variants.map((variant, index) => ({
        ...{ ...story, ...variant },
        id: String(story?.['id']).slice(0, -1) + String(index),
        upstream: null,
      })),
    ]);
    const outcomes = results.slice(-variants.length).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['created', 'created', 'created', 'refused', 'created', 'created']);
    await people.ana.stories.create({ projectId: 'WEB', title: 'Next' });
    expect(await wrongCounts(world, projectId)).toEqual([]);
  });

  it('adds no version to a spec that was changed here', async () => {
    const importId = await begin();
    await put(
      importId,
      lines.filter(({ type }) => type !== 'specs'),
    );
    const specs = ofType('specs').filter(({ version }) => version === 1);
    await put(importId, specs);
    await people.ana.storySpec.update({ storyId: 'WEB-1', content: 'Here' });
    const [last] = ofType('specs').filter(({ version }) => version === 2);
    expect(await put(importId, [{ ...last, version: 3 }])).toMatchObject([{ outcome: 'kept' }]);
    expect((await people.ana.storySpec.get({ storyId: 'WEB-1' })).spec.content).toBe('Here');
  });
});

describe('authority', () => {
  const reviewersOf = async (storyId: string) => (await people.ana.reviewers.list({ storyId })).items;

  beforeEach(async () => {
    await world.rows(
      `insert into project_members (org_id, project_id, member_id, role)
       select org_id, id, $2, 'lead' from projects where org_id = $1`,
      ...[people.orgId, people.chloe.me.memberId],
    );
  });

  it('keeps verdicts as history that no gate counts', async () => {
    await importAll(lines);
    expect(await reviewersOf('WEB-1')).toMatchObject([
      { verdict: 'approved', stale: false, importedBy: { memberId: people.ana.me.memberId } },
    ]);
    const move = people.ana.stories.updateStatus({ storyId: 'WEB-1', status: 'done' });
    await expect(move).rejects.toMatchObject({ status: 422, body: { details: { reason: 'policy' } } });
    // A verdict that is given in this installation counts.
    const { reviewer } = await people.ben.reviewers.setVerdict({ storyId: 'WEB-1', verdict: 'approved' });
    expect(reviewer).toMatchObject({ importedBy: null, importedFrom: null });
    await people.ana.stories.updateStatus({ storyId: 'WEB-1', status: 'done' });
  });

  it('keeps only the names of authors, and no verdicts, if a lead imports', async () => {
    const { results } = await importAll(lines, people.chloe);
    const actors = (value: unknown): { memberId: unknown; name: string }[] => {
      if (typeof value !== 'object' || value === null) return [];
      if ('kind' in value && 'memberId' in value && 'name' in value) return [value as never];
      return Object.entries(value).flatMap(([name, field]) => (name === 'importedBy' ? [] : actors(field)));
    };
    const { specs, threads, stories, reviewers } = (await readLists(createReader(people))) as Record<
      string,
      unknown
    >;
    const all = actors([specs, threads, stories]);
    expect(all.length).toBeGreaterThan(10);
    expect(new Set(all.map(({ memberId }) => memberId))).toEqual(new Set([null]));
    expect(new Set(all.map(({ name }) => name))).toEqual(new Set(['Ana', 'Ben', 'Chloé', 'Robo']));
    expect(reviewers).toMatchObject([[], [], [{ verdict: 'pending' }, {}], [{ verdict: 'pending' }]]);
    expect(results.flatMap(({ issues }) => issues.map(({ path }) => path))).toContain('verdict');
  });

  it('does not trust the matches of an earlier import by an admin', async () => {
    const importId = await begin();
    await put(importId, ofType('members', 'agents', 'projects', 'columns'));
    await people.chloe.imports.put({ importId, items: ofType('epics', 'stories', 'comments') as Line[] });
    const { items } = await people.ana.comments.list({ storyId: 'WEB-1' });
    expect(items).toMatchObject([{ author: { memberId: null, name: 'Ben' }, reactions: [] }]);
  });

  it('notifies no one', async () => {
    await importAll(lines);
    for (const table of ['notifications', 'inbox_items'])
      expect(await world.rows(`select 1 from ${table} where org_id = $1`, people.orgId)).toEqual([]);
  });

  it('marks what members of the archive wrote', async () => {
    await importAll(lines);
    const { story } = await people.ana.stories.get({ storyId: 'WEB-1' });
    const { spec } = await people.ana.storySpec.get({ storyId: 'WEB-1' });
    const { items } = await people.ana.comments.list({ storyId: 'WEB-1' });
    for (const record of [story, spec, ...items])
      expect(record).toMatchObject({
        importedBy: { memberId: people.ana.me.memberId },
        importedFrom: 'muster',
      });
  });

  it("is refused to an agent's token", async () => {
    await expect(begin(people.robo)).rejects.toMatchObject({ status: 403 });
  });
});

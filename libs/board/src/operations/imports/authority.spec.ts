/** Tests that an import gives its caller no additional rights. It bypasses no gate and acts for no other member. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type InputOf } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { type PeopleOf, type PersonOf, useWorld } from '@muster/testing';
import { arrangeBoard } from '../../../test/board.ts';
import { boardHandlers } from '../../index.ts';

const world = useWorld(boardHandlers);
let people: PeopleOf<typeof world>;

type Item = InputOf<typeof boardRegistry.imports.put>['items'][number];

beforeEach(async () => {
  people = await world.org({ policy: { requiredApprovals: 1, requireSpecToStart: true } });
  const { projectId } = await arrangeBoard(world, people.orgId);
  await world.rows(
    `insert into project_members (org_id, project_id, member_id, role) values ($1, $2, $3, 'lead')`,
    people.orgId,
    projectId,
    people.chloe.me.memberId,
  );
});

const putAs = async (person: PersonOf<typeof world>, ...items: Item[]) => {
  const { import: begun } = await person.imports.begin({ projectId: 'WEB', provider: 'jira', name: 'x' });
  return (await person.imports.put({ importId: begun.id, items, theirs: true })).results;
};
const statusOf = async (key: string) => (await people.ana.stories.get({ storyId: key })).story.status;
const comment = {
  externalId: '1',
  authorName: 'Ana of Jira',
  authorEmail: 'ana@example.com',
  body: 'Agents may push.',
  at: '2024-03-02T10:00:00Z',
};
const itemWithComment: Item = { externalId: '1', title: 'One', comments: [comment] };
const commentOf = async () => (await people.ana.comments.list({ storyId: 'WEB-1' })).items[0];

describe('a status of an item', () => {
  it('passes no gate that is shut for the story that exists, whatever else the item says', async () => {
    await putAs(people.chloe, { externalId: '1', title: 'One' });
    for (const [status, gate] of [
      ['done', 'requiredApprovals'],
      ['in_progress', 'requireSpecToStart'],
    ] as const) {
      const [result] = await putAs(people.chloe, { externalId: '1', title: 'New', status });
      expect(result).toMatchObject({ outcome: 'kept', issues: [{ path: 'status' }] });
      expect(result?.issues[0]?.message).toContain(gate);
    }
    expect(await statusOf('WEB-1')).toBe('backlog');
  });

  it('is followed where the gates let it, and of a story that is made', async () => {
    const [made] = await putAs(people.chloe, { externalId: '1', title: 'One', status: 'done' });
    expect(made).toMatchObject({ outcome: 'created', issues: [] });
    await putAs(people.chloe, { externalId: '2', title: 'Two' });
    await people.ana.reviewers.add({ storyId: 'WEB-2', memberId: people.ben.me.memberId });
    await people.ben.reviewers.setVerdict({ storyId: 'WEB-2', verdict: 'approved' });
    const [item] = await putAs(people.chloe, { externalId: '2', title: 'Two', status: 'done' });
    expect(item).toMatchObject({ outcome: 'updated' });
    expect([await statusOf('WEB-1'), await statusOf('WEB-2')]).toEqual(['done', 'done']);
    // A put that also replaces the spec makes the approval stale.
    await putAs(people.chloe, { externalId: '3', title: 'Three' });
    await people.ana.reviewers.add({ storyId: 'WEB-3', memberId: people.ben.me.memberId });
    await people.ben.reviewers.setVerdict({ storyId: 'WEB-3', verdict: 'approved' });
    const [stale] = await putAs(people.chloe, {
      externalId: '3',
      title: 'Three',
      spec: 'New',
      status: 'done',
    });
    expect(stale).toMatchObject({ outcome: 'kept' });
  });
});

describe('an author', () => {
  it('is a member only where an admin with the scope admin imports, and is always marked', async () => {
    await putAs(people.ana, itemWithComment);
    expect(await commentOf()).toMatchObject({
      author: { memberId: people.ana.me.memberId },
      importedBy: { memberId: people.ana.me.memberId },
      importedFrom: 'jira',
    });
  });

  it.each(['a lead', 'an admin without the scope'])('stays a name where %s imports', async (who) => {
    const { orgId, chloe, ben } = people;
    const person =
      who === 'a lead' ? chloe : await world.token(orgId, ben.me.memberId, { scopes: ['read', 'write'] });
    await world.rows(
      `insert into project_members (org_id, project_id, member_id, role)
       select org_id, id, $2, 'lead' from projects where org_id = $1`,
      ...[orgId, ben.me.memberId],
    );
    await putAs(person, itemWithComment);
    expect(await commentOf()).toMatchObject({
      author: { kind: 'member', memberId: null, name: 'Ana of Jira' },
      importedBy: { memberId: person.me.memberId },
      importedFrom: 'jira',
    });
  });

  it('keeps a text that a lead would change under a member’s name', async () => {
    await putAs(people.ana, itemWithComment);
    const forged = { ...itemWithComment, comments: [{ ...comment, body: 'Forged' }] };
    const [item] = await putAs(people.chloe, forged);
    expect(item?.issues).toMatchObject([{ message: 'Only an admin may change a comment of a member.' }]);
    expect(await commentOf()).toMatchObject({
      body: comment.body,
      importedBy: { memberId: people.ana.me.memberId },
    });
  });

  it('may be changed by a lead where only its name is known', async () => {
    await putAs(people.chloe, itemWithComment);
    const changed = { ...itemWithComment, comments: [{ ...comment, body: 'Agents may ask.' }] };
    expect(await putAs(people.chloe, changed)).toMatchObject([{ issues: [] }]);
    expect(await commentOf()).toMatchObject({ body: 'Agents may ask.', author: { memberId: null } });
  });

  it('is marked by nothing where the comment was written here', async () => {
    await putAs(people.ana, { externalId: '1', title: 'One' });
    await people.ana.comments.create({ storyId: 'WEB-1', body: 'Here' });
    expect(await commentOf()).toMatchObject({ importedBy: null, importedFrom: null });
  });
});

it("is refused to an agent's token", async () => {
  await expect(putAs(people.robo, itemWithComment)).rejects.toMatchObject({
    status: 403,
    body: { details: { reason: 'agents_may_not' } },
  });
});

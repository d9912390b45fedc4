/**
 * A private project is indistinguishable from a missing one for members without a role in it, in every
 * operation.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '@muster/driver';
import { type Operation } from '@muster/contract';
import { operations } from '@muster/registry';
import { checkEachCase } from '@muster/testing';
import { type ExampleOrg, createExampleOrg } from '@muster/examples';
import { type RawAnswer, useApi } from './api.ts';
import { type RefField, refFields, withLeaf } from './fields.ts';

const api = useApi();
const { world } = api;

/** Kinds of records that all members may see, in any project. */
const orgWideKinds: readonly RefField['kind'][] = ['member', 'agent', 'team', 'catalogAgent'];

/** The only operation that accepts a project which its caller may not see. */
const reachesHidden = 'projects.requestAccess';

const fields = [...operations.values()]
  .filter(({ name }) => name !== reachesHidden)
  .flatMap((operation) =>
    refFields(operation)
      .filter(({ kind }) => !orgWideKinds.includes(kind))
      .map((field) => [`${operation.name} ${field.path.join('.')}`, operation, field] as const),
  );

/** Lists the identifiers of a record, each with a similar one that does not exist. */
function namesOf({ kind }: RefField, { records }: ExampleOrg): [string, string][] {
  const byKey: Partial<Record<RefField['kind'], [string, string]>> = {
    project: ['WEB', 'NONE'],
    story: ['WEB-1', 'NONE-1'],
  };
  const key = byKey[kind];
  return [[records[kind], newId()], ...(key === undefined ? [] : [key])];
}

describe('to an outsider, a record of a private project', () => {
  // One organization for all tests, because refused requests change nothing.
  let org: ExampleOrg;
  beforeAll(async () => {
    org = await createExampleOrg(world);
  });

  it('is answered like none, byte for byte, in every field of every operation', async () => {
    await checkEachCase(fields, async (operation, field) => {
      for (const [there, nowhere] of namesOf(field, org)) {
        const ask = (id: string): Promise<RawAnswer> =>
          api.call(org.outsider.me.token, operation.name, withLeaf(operation.example, field.path, id), {
            'x-request-id': 'same',
          });
        const [hidden, nonexistent] = [await ask(there), await ask(nowhere)];
        // A result for one of several records repeats the reference that the caller sent.
        expect([hidden.status, hidden.text.replaceAll(there, nowhere)]).toEqual([
          nonexistent.status,
          nonexistent.text,
        ]);
        // A caller whose role suffices for the operation gets 404. No caller gets a success.
        if (operation.target === field.path[0]) expect(hidden.status).toBe(404);
      }
    });
  }, 300_000);

  it('is there to who may look at it, so the answers would differ', async () => {
    const reads = fields.filter(
      ([, { access, effect, target }, { path }]) =>
        effect === 'read' && access.kind === 'project' && access.role === 'viewer' && target === path[0],
    );
    expect(reads.length).toBeGreaterThan(5);
    for (const [title, operation, field] of reads) {
      const params = withLeaf(operation.example, field.path, org.records[field.kind]);
      const answer = await api.call(org.looker.me.token, operation.name, params);
      expect([title, answer.status]).toEqual([title, 200]);
    }
  });

  const targets = (operation: Operation) =>
    refFields(operation).some(({ path }) => path[0] === operation.target);

  it('is asked about by every operation that has one for its target', () => {
    const asked = new Set(fields.map(([, operation]) => operation.name));
    const inProjects = [...operations.values()].filter(({ access }) => access.kind === 'project');
    expect(inProjects.length).toBeGreaterThan(30);
    for (const operation of inProjects) {
      expect([operation.name, asked.has(operation.name), targets(operation)]).toEqual([
        operation.name,
        true,
        true,
      ]);
    }
  });

  it('can be asked for, and that says no more than that it is there', async () => {
    await world.rows(`update projects set name = 'Canary' where id = $1`, org.records.project);
    for (const projectId of [org.records.project, 'WEB']) {
      const answer = await api.call(org.outsider.me.token, reachesHidden, { projectId });
      expect(answer.status).toBe(200);
      expect(answer.text).not.toMatch(/Canary|WEB/);
    }
    const nowhere = await api.call(org.outsider.me.token, reachesHidden, { projectId: newId() });
    expect(nowhere.status).toBe(404);
  });
});

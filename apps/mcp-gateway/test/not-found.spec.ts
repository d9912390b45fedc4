// Every parameter of every tool that refers to a record: the error names the path of a missing one and the
// next step.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Operation } from '@muster/contract';
import { operations } from '@muster/registry';
import { checkEachCase } from '@muster/testing';
import { exampleCallerOf, type ExampleOrg, createExampleOrg } from '@muster/examples';
import { operationTool, toolNameOf } from '../src/tools/tools.ts';
import { type Args, refPaths, withValue } from './arguments.ts';
import { useGateway } from './gateway.ts';

const gateway = useGateway();
const nobody = '01936d5c-0000-7000-8000-00000000dead';
const offered = [...operations.values()].filter(({ surfaces }) => surfaces.includes('tool'));

/**
 * Changes to the contract's example call. They are needed if the tested parameter excludes or requires
 * another parameter.
 */
const baseArguments: Readonly<Record<string, Args>> = {
  'deliveryExecutions.handoff toAgentId': { toMemberId: undefined },
  'agents.catalog.get agentId': { slug: undefined },
  'agents.catalog.download agentId': { slug: undefined },
  'stories.reorder afterStoryId': { beforeStoryId: undefined },
  'stories.reorder columnId': { beforeStoryId: undefined },
  'stories.update blocked.unblockerMemberId': { blocked: { kind: 'needs_input', note: 'Who knows?' } },
  'plans.get planId': { planRef: undefined },
  'reviewers.add memberId': { agentId: undefined },
  'reviewers.add agentId': { memberId: undefined },
  'reviewers.remove memberId': { agentId: undefined },
  'reviewers.remove agentId': { memberId: undefined },
};

/** Parameters that filter a list. If such a parameter names a missing record, the list is empty. */
const filters: ReadonlySet<string> = new Set([
  'deliveryExecutions.acquireNext epicId',
  'deliveryExecutions.list holderId',
  'agents.listActive agentId',
  ...['columnId', 'epicId', 'assigneeId', 'agentId', 'parentId', 'storyIds.0'].flatMap((name) => [
    `stories.list ${name}`,
    `stories.search ${name}`,
  ]),
  'comments.list threadId',
  ...['memberId', 'agentId'].flatMap((name) => [
    `assignments.listForOrg ${name}`,
    `reviewers.listForUser ${name}`,
  ]),
  'contracts.list storyId',
  'activity.list actorId',
  'audit.list actorId',
]);

/**
 * List parameters whose items are not looked up, because a rule about the whole list rejects the call first.
 */
const byRule: ReadonlySet<string> = new Set([
  'policy.update allowedIdentityProviders.0',
  'boardColumns.reorder columnIds.0',
]);

/** The operation whose result names the missing records, because it changes the others. */
const perRecordOperation = 'stories.updateMany';

/** A parameter that the API only looks up for the holder of a lease. The example calls hold no lease. */
const ofHolder = 'deliveryExecutions.update waitingFor.questionId';

const operationCases = offered.flatMap((operation) =>
  refPaths(operationTool(operation.name)?.fullParams ?? {}).map((path) => {
    const title = `${operation.name} ${path.join('.')}`;
    return [title, { title, operation, path }] as const;
  }),
);

describe('what is not there', () => {
  // All cases share one organization, because a failed call changes nothing.
  let org: ExampleOrg;
  beforeAll(async () => {
    org = await createExampleOrg(gateway.world);
  });
  const ask = (title: string, operation: Operation, path: readonly string[]) =>
    gateway.tool(
      exampleCallerOf(operation, org).me.token,
      toolNameOf(operation.name),
      withValue({ ...operation.example, ...baseArguments[title] }, path, nobody) as Args,
    );

  it('is told by its path, by every parameter that names a record', async () => {
    const told = operationCases.filter(
      ([title, { operation }]) =>
        !filters.has(title) &&
        !byRule.has(title) &&
        title !== ofHolder &&
        operation.name !== perRecordOperation,
    );
    await checkEachCase(told, async ({ title, operation, path }) => {
      const { isError, structuredContent } = await ask(title, operation, path);
      const where = path.join('.');
      expect([isError, structuredContent.error]).toEqual([
        true,
        expect.objectContaining({
          code: 'not_found',
          hint: expect.stringMatching(new RegExp(`^${where} names no record`)),
        }),
      ]);
      expect(structuredContent.error?.details).toMatchObject({ reason: 'not_found', path: where });
    });
  }, 300_000);

  it('is in no list that is filtered by it', async () => {
    const filtered = operationCases.filter(([title]) => filters.has(title));
    await checkEachCase(filtered, async ({ title, operation, path }) => {
      const { isError, structuredContent } = await ask(title, operation, path);
      expect(isError).toBeUndefined();
      const { items = [], execution = null } = structuredContent;
      expect([items, execution]).toEqual([[], null]);
    });
  });

  it('is a rule’s to tell, where one speaks of the list as a whole', async () => {
    const ruled = operationCases.filter(([title]) => byRule.has(title));
    await checkEachCase(ruled, async ({ title, operation, path }) => {
      const { structuredContent } = await ask(title, operation, path);
      expect(structuredContent.error?.code).toBe('unprocessable');
      expect(structuredContent.error?.hint.length).toBeGreaterThan(20);
    });
  });

  it('is told by its place in a list', async () => {
    const call = async (name: string, args: Args) =>
      (await gateway.tool(org.ana.me.token, name, args)).structuredContent.error?.details?.['path'];
    expect(await call('stories_update', { storyId: 'WEB-1', blockedBy: ['WEB-2', 'WEB-99'] })).toBe(
      'blockedBy.1',
    );
    const invited = { email: 'new@example.com', role: 'member' };
    expect(await call('members_invite', { ...invited, projectIds: ['web', 'NOPE'] })).toBe('projectIds.1');
    expect(
      await call('deliveryGroups_create', { projectId: 'WEB', name: 'G', storyIds: ['WEB-1', nobody] }),
    ).toBe('storyIds.1');
    // The API does not report which of the notification ids is missing.
    const known = org.records.notification;
    expect(await call('notifications_markRead', { notificationIds: [known, nobody] })).toBe(
      'notificationIds',
    );
  });
});

describe('what is not there, in a tool of several steps,', () => {
  async function work() {
    const org = await createExampleOrg(gateway.world);
    const { token } = org.ana.me;
    const { structuredContent } = await gateway.tool(token, 'start_work', { storyId: 'WEB-1' });
    const { execution, leaseToken } = structuredContent as {
      execution?: { id: string };
      leaseToken?: string;
    };
    if (execution === undefined || leaseToken === undefined)
      throw new Error(JSON.stringify(structuredContent));
    return { org, token, held: { executionId: execution.id, leaseToken } };
  }
  const summary = 'Half';
  it.each([
    ['start_work', 'storyId', {}],
    ['next_work', 'projectId', { runId: 'run-9' }],
    ['ask_question', 'executionId', { question: 'Which?' }],
    ['ask_question', 'directedTo', { question: 'Which?' }],
    ['wait_for', 'executionId', { waitSeconds: 1 }],
    ['submit_work', 'executionId', { summary, branch: 'web-1' }],
    ['hand_off_work', 'executionId', { summary, toMemberId: 'ana' }],
    ['hand_off_work', 'toMemberId', { summary }],
    ['hand_off_work', 'toAgentId', { summary }],
    ['release_work', 'executionId', {}],
  ] as const)('is told by the tool’s own parameter: %s %s', async (name, path, others) => {
    const { org, token, held } = await work();
    const own = name === 'start_work' || name === 'next_work' ? {} : held;
    const args = { ...own, ...others, ...('toMemberId' in others && { toMemberId: org.ben.me.memberId }) };
    const { structuredContent } = await gateway.tool(token, name, { ...args, [path]: nobody });
    expect(structuredContent.error).toMatchObject({
      ...{ code: 'not_found', details: { reason: 'not_found', path } },
      hint: expect.stringMatching(new RegExp(`^${path} names no record`)),
    });
    expect(structuredContent).not.toHaveProperty('done');
  });

  it('is told to the holder of a lease: waitingFor.questionId', async () => {
    const { token, held } = await work();
    const args = { ...held, waitingFor: { questionId: nobody } };
    const { structuredContent } = await gateway.tool(token, 'deliveryExecutions_update', args);
    expect(structuredContent.error?.details).toMatchObject({ path: 'waitingFor.questionId' });
  });

  it('is told of what does not fit in a later step by the same rule', async () => {
    const { token, held } = await work();
    const empty = await gateway.tool(token, 'submit_work', { ...held, summary, branch: '' });
    expect(empty.structuredContent.error?.details?.issues?.map(({ path }) => path)).toEqual(['branch']);
  });

  it.each([
    ['call_read_operation', { operation: 'stories.get', params: { storyId: nobody } }, 'storyId'],
    [
      'call_write_operation',
      { operation: 'comments.create', params: { storyId: 'WEB-1', body: 'x', parentId: nobody } },
      'parentId',
    ],
  ])('is told by the operation’s parameter in %s', async (name, args, path) => {
    const { token } = await work();
    const { structuredContent } = await gateway.tool(token, name, args, { query: '?mode=core' });
    expect(structuredContent.error?.details?.['path']).toBe(path);
  });
});

it('knows every filter and rule by the name that it has', () => {
  const titles = operationCases.map(([title]) => title);
  for (const title of [...filters, ...byRule, ...Object.keys(baseArguments), ofHolder])
    expect(titles).toContain(title);
});

// An agent's complete work through the gateway: find a story, start, write a checkpoint, hit a conflict,
// submit.
import { describe, expect, it } from '@jest/globals';
import { type People } from '@muster/testing';
import { type ToolAnswer, useGateway } from './gateway.ts';

const gateway = useGateway();
const { world } = gateway;
const coreMode = { query: '?mode=core' };

async function createTestBoard(): Promise<People> {
  const people = await world.org();
  const api = gateway.apiClient(people.ana.me.token);
  await api.projects.create({ key: 'WEB', name: 'Web' });
  await api.stories.create({ projectId: 'WEB', title: 'Sign in with a passkey', spec: '# Passkeys' });
  return people;
}

interface Started {
  readonly execution: { readonly id: string };
  readonly leaseToken: string;
  readonly context: Record<string, unknown>;
  readonly lock: { readonly id: string } | null;
}
const startedWorkOf = ({ structuredContent }: ToolAnswer): Started => structuredContent as unknown as Started;

describe('an agent', () => {
  it('goes from search to a story in review', async () => {
    const { robo, ana } = await createTestBoard();
    const { token } = robo.me;
    const found = await gateway.tool(
      token,
      'search_operations',
      { query: 'list the stories of a project' },
      coreMode,
    );
    expect(found.structuredContent['items']).toEqual(
      expect.arrayContaining([expect.objectContaining({ operation: 'stories.list', effect: 'read' })]),
    );
    const described = await gateway.tool(
      token,
      'describe_operation',
      { operation: 'stories.list' },
      coreMode,
    );
    expect(described.structuredContent).toMatchObject({
      callWith: 'call_read_operation',
      example: { projectId: 'WEB' },
    });
    const listed = await gateway.tool(
      token,
      'call_read_operation',
      { operation: 'stories.list', params: { projectId: 'WEB' } },
      coreMode,
    );
    expect(listed.structuredContent).toMatchObject({ items: [{ key: 'WEB-1' }] });

    const begun = await gateway.tool(
      token,
      'start_work',
      { storyId: 'web-1', runId: 'run-1', resources: ['src/auth/**'] },
      coreMode,
    );
    expect([begun.isError, begun.structuredContent.error]).toEqual([undefined, undefined]);
    const { execution, leaseToken, context, lock } = startedWorkOf(begun);
    expect(context).toMatchObject({ story: { status: 'in_progress' }, spec: { content: '# Passkeys' } });
    expect(lock).toMatchObject({ executionId: execution.id });

    const held = { executionId: execution.id, leaseToken };
    const checkpoint = { ...held, summary: 'The form is there', nextSteps: ['Check it'], pushed: true };
    const written = await gateway.tool(token, 'deliveryExecutions_checkpoint', checkpoint, coreMode);
    expect(written.structuredContent).toMatchObject({ execution: { checkpoint: { seq: 1 } } });

    const handedIn = await gateway.tool(
      token,
      'submit_work',
      {
        ...held,
        ...{ summary: 'Passkeys work', filesTouched: ['src/auth/passkey.ts'] },
        pullRequest: { number: 7, url: 'https://example.com/pull/7' },
      },
      coreMode,
    );
    expect(handedIn.structuredContent).toMatchObject({
      execution: { state: 'submitted', checkpoint: { seq: 2 } },
    });
    const api = gateway.apiClient(ana.me.token);
    expect((await api.stories.get({ storyId: 'WEB-1' })).story.status).toBe('in_review');
    expect((await api.locks.list({ projectId: 'WEB' })).items).toEqual([]);
  });

  it('hears who has what it wants, and that nothing else was done', async () => {
    const { robo, ana, ben } = await createTestBoard();
    await gateway.tool(ben.me.token, 'start_work', { storyId: 'WEB-1' });
    const refused = await gateway.tool(robo.me.token, 'start_work', {
      storyId: 'WEB-1',
      resources: ['src/**'],
    });
    expect([refused.isError, refused.structuredContent]).toEqual([
      true,
      { error: expect.objectContaining({ code: 'conflict', hint: expect.stringContaining('Ben') }) },
    ]);
    expect((await gateway.apiClient(ana.me.token).locks.list({ projectId: 'WEB' })).items).toEqual([]);
  });

  it('writes on what it read, or hears that it changed', async () => {
    const { robo, ana } = await createTestBoard();
    await gateway.apiClient(ana.me.token).storySpec.update({ storyId: 'WEB-1', content: '# Other' });
    const write = { storyId: 'WEB-1', content: '# Mine', baseVersion: 1 };
    const { structuredContent } = await gateway.tool(robo.me.token, 'storySpec_update', write, coreMode);
    expect(structuredContent.error).toMatchObject({
      status: 409,
      details: { reason: 'version_mismatch', currentVersion: 2 },
      hint: expect.stringContaining('version 2'),
    });
  });

  it('hands its work to somebody with what they need to go on', async () => {
    const { robo, chloe, ana } = await createTestBoard();
    const resources = ['src/auth'];
    const begun = startedWorkOf(
      await gateway.tool(robo.me.token, 'start_work', { storyId: 'WEB-1', runId: 'run-1', resources }),
    );
    const offered = await gateway.tool(robo.me.token, 'hand_off_work', {
      ...{ executionId: begun.execution.id, leaseToken: begun.leaseToken },
      ...{ summary: 'Half of it', nextSteps: ['The rest'], toMemberId: ana.me.memberId },
    });
    expect(offered.structuredContent).toMatchObject({
      execution: {
        state: 'offered',
        offer: { toMemberId: ana.me.memberId },
        checkpoint: { seq: 1 },
      },
    });
    const refused = await gateway.tool(chloe.me.token, 'start_work', { storyId: 'WEB-1' });
    expect(refused.structuredContent.error).toMatchObject({ details: { reason: 'reserved' } });
    // The locks pass to the new holder, who may name them again.
    const taken = startedWorkOf(
      await gateway.tool(ana.me.token, 'start_work', { storyId: 'WEB-1', resources }),
    );
    expect(taken).toMatchObject({
      execution: { checkpoint: { nextSteps: ['The rest'] } },
      lock: { resources },
    });
  });

  it('names stories, members and agents as people write them', async () => {
    const { robo, ana } = await createTestBoard();
    const start = { storyId: 'https://muster.example.com/s/WEB-1?from=mail', runId: 'run-1' };
    const { execution, leaseToken } = startedWorkOf(await gateway.tool(robo.me.token, 'start_work', start));
    const held = { executionId: execution.id, leaseToken };
    const asked = await gateway.tool(robo.me.token, 'ask_question', {
      ...{ ...held, question: 'Per device?', directedTo: `@${ana.me.handle}` },
    });
    expect(asked.structuredContent).toMatchObject({ comment: { directedTo: ana.me.memberId } });
    const listed = await gateway.tool(robo.me.token, 'stories_list', {
      projectId: 'WEB',
      storyIds: '#WEB-1, WEB-9',
    });
    expect(listed.structuredContent).toMatchObject({ items: [{ key: 'WEB-1' }] });
    const refused = await gateway.tool(robo.me.token, 'hand_off_work', {
      ...{ ...held, summary: 'Half of it', toAgentId: 'nobody-here' },
    });
    expect(refused.structuredContent.error).toMatchObject({ details: { path: 'toAgentId' } });
    const offered = await gateway.tool(robo.me.token, 'hand_off_work', {
      ...{ ...held, summary: 'Half of it', toMemberId: `@${ana.me.handle}` },
    });
    expect(offered.structuredContent).toMatchObject({
      execution: { state: 'offered', offer: { toMemberId: ana.me.memberId } },
    });
  });

  it('is corrected before anything is done where a macro does not fit', async () => {
    const { robo } = await createTestBoard();
    const { structuredContent } = await gateway.tool(robo.me.token, 'start_work', { story: 'WEB-1' });
    expect(structuredContent.error).toMatchObject({ status: 400, details: { reason: 'invalid_params' } });
  });
});

describe('a write', () => {
  const comments = async (token: string): Promise<number> =>
    (await gateway.apiClient(token).comments.list({ storyId: 'WEB-1' })).items.length;
  const comment = { name: 'comments_create', arguments: { storyId: 'WEB-1', body: 'Looks good' } };

  it('that is sent again after its connection was cut happens once', async () => {
    const { ana, orgId } = await createTestBoard();
    const { token } = ana.me;
    const [story] = await world.rows<{ id: string }>('select id from stories where org_id = $1', orgId);
    await gateway.disconnectDuring(story?.id ?? '', (signal) =>
      gateway.rpc(token, 'tools/call', comment, { id: 1, signal }),
    );
    const again = await gateway.rpc(token, 'tools/call', comment, { id: 1 });
    expect(again.body.result).toMatchObject({ structuredContent: { comment: { body: 'Looks good' } } });
    expect(await comments(token)).toBe(1);
    // The client received the result of the previous call, so an equal call is a new one.
    await gateway.rpc(token, 'tools/call', comment, { id: 1 });
    expect(await comments(token)).toBe(2);
  });

  it('that is meant twice happens twice, though a client numbers it alike', async () => {
    const { ana } = await createTestBoard();
    const { token } = ana.me;
    for (const count of [1, 2, 3]) {
      await gateway.rpc(token, 'tools/call', comment, { id: 1 });
      expect(await comments(token)).toBe(count);
    }
  });

  it('happens once for a key of the client’s own, by header or in _meta', async () => {
    const { ana } = await createTestBoard();
    const { token } = ana.me;
    for (const id of [1, 2])
      await gateway.rpc(token, 'tools/call', comment, { id, meta: { 'muster/idempotencyKey': 'a' } });
    expect(await comments(token)).toBe(1);
    for (const id of [3, 4])
      await gateway.rpc(token, 'tools/call', comment, { id, headers: { 'idempotency-key': 'b' } });
    expect(await comments(token)).toBe(2);
  });

  it('of a macro happens once too, each step for itself', async () => {
    const { ana } = await createTestBoard();
    const begun = startedWorkOf(await gateway.tool(ana.me.token, 'start_work', { storyId: 'WEB-1' }));
    const call = {
      name: 'submit_work',
      arguments: {
        ...{ executionId: begun.execution.id, leaseToken: begun.leaseToken, summary: 'Done' },
        pullRequest: { number: 7, url: 'https://example.com/pull/7' },
      },
    };
    const meta = { 'muster/idempotencyKey': 'same' };
    const answers = [
      await gateway.rpc(ana.me.token, 'tools/call', call, { meta }),
      await gateway.rpc(ana.me.token, 'tools/call', call, { meta }),
    ];
    expect(answers.map(({ body }) => body.result?.['isError'])).toEqual([undefined, undefined]);
    const { items } = await gateway
      .apiClient(ana.me.token)
      .deliveryExecutions.eventsSince({ executionId: begun.execution.id });
    expect(items.filter(({ kind }) => kind.includes('checkpoint'))).toHaveLength(1);
  });
});

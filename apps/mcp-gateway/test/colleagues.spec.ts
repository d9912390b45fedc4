// Agents that hand work to one another through MCP alone: find, offer, notify, accept.
import { expect, it } from '@jest/globals';
import { useGateway } from './gateway.ts';

const gateway = useGateway();
const { world } = gateway;

interface Held {
  readonly execution: { readonly id: string };
  readonly leaseToken: string;
}

it('an agent that does nothing is found, is told of what its sibling offers it, and takes it', async () => {
  const { orgId, ana, chloe, robo } = await world.org();
  const butler = await world.token(orgId, chloe.me.memberId, { agent: 'Butler', mayReadInbox: true });
  const api = gateway.apiClient(ana.me.token);
  await api.projects.create({ key: 'WEB', name: 'Web' });
  await api.stories.create({ projectId: 'WEB', title: 'Sign in' });
  const call = async (token: string, name: string, args: object): Promise<Record<string, unknown>> => {
    const { isError, structuredContent } = await gateway.tool(token, name, args, { query: '?mode=core' });
    expect([isError, structuredContent.error]).toEqual([undefined, undefined]);
    return structuredContent;
  };
  const read = (token: string, operation: string, params = {}) =>
    call(token, 'call_read_operation', { operation, params });

  const { execution, leaseToken } = (await call(robo.me.token, 'start_work', {
    storyId: 'WEB-1',
  })) as unknown as Held;
  const { agents } = await read(robo.me.token, 'members.profile');
  const sibling = (agents as { id: string; name: string }[]).find(({ name }) => name === 'Butler');
  expect(sibling?.id).toBe(butler.me.agentId);
  await call(robo.me.token, 'hand_off_work', {
    ...{ executionId: execution.id, leaseToken, summary: 'Half of it', toAgentId: sibling?.id },
    note: 'The rest is yours',
  });

  expect(await read(butler.me.token, 'notifications.list')).toMatchObject({
    items: [{ kind: 'handoff', title: 'Robo offers you the work on WEB-1' }],
  });
  expect(await read(butler.me.token, 'deliveryExecutions.list', { state: 'offered' })).toMatchObject({
    items: [{ story: { key: 'WEB-1' }, offer: { toAgentId: sibling?.id, note: 'The rest is yours' } }],
  });
  const taken = await call(butler.me.token, 'next_work', { projectId: 'WEB', runId: 'morning' });
  expect(taken).toMatchObject({ resumed: true, execution: { checkpoint: { summary: 'Half of it' } } });
});

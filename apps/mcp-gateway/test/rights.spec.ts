// The token's rights decide which tools are listed and which can be called.
import { describe, expect, it } from '@jest/globals';
import { operations } from '@muster/registry';
import { type Person } from '@muster/testing';
import { exampleCallerOf, createExampleOrg } from '@muster/examples';
import { toolNameOf } from '../src/tools/tools.ts';
import { useGateway } from './gateway.ts';

const gateway = useGateway();

const listToolNames = async ({ me }: Person): Promise<Set<string>> => {
  const { body } = await gateway.rpc(me.token, 'tools/list', {}, { query: '?mode=full' });
  return new Set((body.result?.['tools'] as { name: string }[]).map(({ name }) => name));
};
/** Lists the names of operations that are tools and have the given property in the contract. */
const operationsWith = (wanted: 'byMemberOnly' | 'readsInbox'): string[] =>
  [...operations.values()]
    .filter((operation) => operation[wanted] && operation.surfaces.includes('tool'))
    .map(({ name }) => name);

describe("an agent's token", () => {
  it('is shown no tool for what is its member’s own, and can call none', async () => {
    const org = await createExampleOrg(gateway.world);
    const { orgId, ana } = org;
    const agent = await gateway.world.token(orgId, ana.me.memberId, { agent: 'Scribe' });
    const [agents, members] = [await listToolNames(agent), await listToolNames(ana)];
    const own = [...operationsWith('byMemberOnly'), ...operationsWith('readsInbox')];
    expect(own).toEqual(expect.arrayContaining(['members.leave', 'devices.register', 'notifications.list']));
    for (const name of own) {
      const operation = operations.get(name);
      const tool = toolNameOf(name);
      expect([name, agents.has(tool), members.has(tool)]).toEqual([name, false, true]);
      const { isError, structuredContent } = await gateway.tool(agent.me.token, tool, operation?.example);
      expect([name, isError, structuredContent.error?.details?.reason]).toEqual([
        name,
        true,
        'agents_may_not',
      ]);
    }
  });

  it('is greeted by its own name', async () => {
    const { orgId, ana } = await gateway.world.org();
    const agent = await gateway.world.token(orgId, ana.me.memberId, { agent: 'Scribe' });
    const greeting = async ({ me }: Person) => {
      const params = {
        ...{ protocolVersion: '2025-11-25', capabilities: {} },
        clientInfo: { name: 'spec', version: '1' },
      };
      return (await gateway.rpc(me.token, 'initialize', params)).body.result?.['instructions'];
    };
    expect(await greeting(agent)).toContain('You are Scribe, an agent of Ana (owner)');
    expect(await greeting(ana)).toContain('You act for Ana (owner)');
  });

  it('reads the inbox where its member let it', async () => {
    const { orgId, ana } = await gateway.world.org();
    const reader = await gateway.world.token(orgId, ana.me.memberId, { agent: 'Reader', mayReadInbox: true });
    const tools = await listToolNames(reader);
    for (const name of operationsWith('readsInbox'))
      expect([name, tools.has(toolNameOf(name))]).toEqual([name, true]);
    for (const name of operationsWith('byMemberOnly'))
      expect([name, tools.has(toolNameOf(name))]).toEqual([name, false]);
    const { structuredContent } = await gateway.tool(reader.me.token, 'notifications_list');
    expect(structuredContent['items']).toEqual([]);
  });
});

it('a token that is bound to projects is shown no tool for what reaches beyond them', async () => {
  const org = await createExampleOrg(gateway.world);
  const { orgId, ana, records } = org;
  const bound = await gateway.world.token(orgId, ana.me.memberId, { projectIds: [records.project] });
  const tools = await listToolNames(bound);
  const all = [...operations.values()].filter(
    (operation) => operation.surfaces.includes('tool') && exampleCallerOf(operation, org) === ana,
  );
  for (const { name, takesBoundTokens } of all)
    expect([name, tools.has(toolNameOf(name))]).toEqual([name, takesBoundTokens]);
});

it('a search finds what the token may use, and nothing else', async () => {
  const { orgId, ana, dan } = await gateway.world.org();
  const reader = await gateway.world.token(orgId, ana.me.memberId, { scopes: ['read'] });
  const found = async ({ me }: Person, query: string) => {
    const { structuredContent } = await gateway.tool(
      me.token,
      'search_operations',
      { query, limit: 50 },
      { query: '?mode=core' },
    );
    return structuredContent['items'] as { operation: string; effect: string }[];
  };
  expect((await found(ana, 'create a ticket')).map(({ operation }) => operation)).toContain('stories.create');
  expect((await found(reader, 'create a ticket')).filter(({ effect }) => effect === 'write')).toEqual([]);
  for (const person of [ana, dan])
    expect(
      (await found(person, 'accounts of the installation')).filter(({ operation }) =>
        operation.startsWith('admin.'),
      ),
    ).toEqual([]);
  expect((await found(dan, 'delete the organization')).map(({ operation }) => operation)).not.toContain(
    'orgs.delete',
  );
});

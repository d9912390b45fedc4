// The official clients of both protocol generations, set up as their users do.
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { productVersion } from '@muster/contract';
import { useGateway } from './gateway.ts';

const gateway = useGateway();
const clientInfo = { name: 'spec', version: '1' };
const openClients: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(openClients.splice(0).map((client) => client.close()));
});

const withToken = (token: string) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } });
const gatewayUrl = (query: string) => new URL(`${gateway.url()}${query}`);

const clients = {
  'the v1 SDK': async (token: string, query = '') => {
    const client = new OlderClient(clientInfo);
    await client.connect(new OlderTransport(gatewayUrl(query), withToken(token)));
    openClients.push(client);
    return client;
  },
  'the v2 SDK, as it comes': async (token: string, query = '') => {
    const client = new ModernClient(clientInfo);
    await client.connect(new ModernTransport(gatewayUrl(query), withToken(token)));
    openClients.push(client);
    return client;
  },
  'the v2 SDK, stateless': async (token: string, query = '') => {
    const client = new ModernClient(clientInfo, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new ModernTransport(gatewayUrl(query), withToken(token)));
    openClients.push(client);
    return client;
  },
};

describe.each(Object.entries(clients))('%s', (_name, connect) => {
  it('connects, and hears how to begin', async () => {
    const { ana } = await gateway.world.org();
    const client = await connect(ana.me.token, '?mode=core');
    expect(client.getInstructions()).toContain('start_work');
    expect(client.getServerVersion()).toMatchObject({ name: 'muster', version: productVersion });
  });

  it('lists tools with output schemas, and finds that answers fit them', async () => {
    const { ana } = await gateway.world.org();
    const client = await connect(ana.me.token, '?outputSchema=1');
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === 'projects_create')?.outputSchema).toMatchObject({
      type: 'object',
    });
    const made = await client.callTool({ name: 'projects_create', arguments: { key: 'WEB', name: 'Web' } });
    expect(made.structuredContent).toMatchObject({ project: { key: 'WEB' } });
    const listed = await client.callTool({ name: 'projects_list', arguments: {} });
    expect(listed.structuredContent).toMatchObject({ items: [{ key: 'WEB' }] });
    await client.callTool({
      name: 'stories_create',
      arguments: { projectId: 'WEB', title: 'Long', spec: 'A line.\n'.repeat(5_000) },
    });
    const cut = await client.callTool({ name: 'storySpec_get', arguments: { storyId: 'WEB-1' } });
    expect(cut.structuredContent).toMatchObject({ cut: { parts: [{ path: 'spec.content' }] } });
  });

  it.each(['', '?outputSchema=1&tools=stories_get'])(
    'reads an error as the result of a call: %s',
    async (query) => {
      const { ana } = await gateway.world.org();
      const client = await connect(ana.me.token, query);
      await client.listTools();
      const answer = await client.callTool({ name: 'stories_get', arguments: { storyId: 'WEB-1' } });
      expect([answer.isError, answer.structuredContent]).toEqual([
        true,
        { error: expect.objectContaining({ code: 'not_found', hint: expect.any(String) }) },
      ]);
    },
  );

  it('is refused with a bad token', async () => {
    await expect(connect('nonsense')).rejects.toThrow();
  });
});

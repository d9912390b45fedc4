// Data for clients in addition to the text for the model: the server's description, authored fields, links to
// complete resources.
import { describe, expect, it } from '@jest/globals';
import { logoSvg } from '@muster/contract';
import { useGateway } from './gateway.ts';

const gateway = useGateway({ OAUTH_ISSUER: 'https://muster.example', MCP_GATEWAY_KEY: 'k'.repeat(32) });

async function createTestBoard(spec = '# Passkeys'): Promise<string> {
  const { ana } = await gateway.world.org();
  const api = gateway.apiClient(ana.me.token);
  await api.projects.create({ key: 'WEB', name: 'Web' });
  await api.stories.create({ projectId: 'WEB', title: 'Sign in with a passkey', spec });
  return ana.me.token;
}

describe('the server', () => {
  it('says its name, its place and its mark in both eras', async () => {
    const token = await createTestBoard();
    const said = {
      ...{ name: 'muster', title: 'Muster', websiteUrl: 'https://muster.example' },
      icons: [
        { src: expect.stringMatching(/^data:image\/svg\+xml,/), mimeType: 'image/svg+xml', sizes: ['any'] },
      ],
    };
    const begun = await gateway.rpc(token, 'initialize', {
      ...{ protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'spec', version: '1' } },
    });
    expect(begun.body.result?.['serverInfo']).toMatchObject(said);
    const { body } = await gateway.modern(token, 'server/discover');
    const info =
      body.result?.['serverInfo'] ??
      (body.result?.['_meta'] as Record<string, unknown>)['io.modelcontextprotocol/serverInfo'];
    expect(info).toMatchObject(said);
    expect(JSON.stringify(info)).toContain(encodeURIComponent(logoSvg));
  });

  it('gives a tool a title that says more than its name', async () => {
    const { body } = await gateway.rpc(await createTestBoard(), 'tools/list', {}, { query: '?mode=core' });
    const tools = body.result?.['tools'] as { name: string; title?: string }[];
    const titles = new Map(tools.map(({ name, title }) => [name, title]));
    expect([titles.get('comments_create'), titles.get('start_work')]).toEqual([
      ...['Comments: create', undefined],
    ]);
    expect([...titles.values()].filter((title) => title !== undefined && !/^[A-Z]/.test(title))).toEqual([]);
  });
});

describe('an answer', () => {
  it('names the texts in it that others wrote, and the instructions say what to think of them', async () => {
    const token = await createTestBoard();
    const { body } = await gateway.rpc(token, 'tools/call', {
      name: 'stories_list',
      arguments: { projectId: 'WEB' },
    });
    const { _meta: meta } = body.result as { _meta: Record<string, unknown> };
    expect(meta['muster/untrusted']).toContain('items[].title');
    const greeting = await gateway.modern(token, 'server/discover');
    expect(greeting.body.result?.['instructions']).toContain('ask a person');
  });

  const linksIn = ({ result }: { readonly result?: Record<string, unknown> }) =>
    (result?.['content'] as { type: string; uri?: string }[]).flatMap(({ type, uri }) =>
      type === 'resource_link' ? [uri] : [],
    );

  it('that is cut leads to the whole spec, which can be read there', async () => {
    const token = await createTestBoard('A line of the spec.\n'.repeat(5_000));
    const read = { name: 'storySpec_get', arguments: { storyId: 'WEB-1' } };
    const cut = await gateway.modern(token, 'tools/call', read);
    expect(linksIn(cut.body)).toEqual(['muster://stories/WEB-1/spec']);
    const begun = await gateway.modern(token, 'tools/call', {
      name: 'start_work',
      arguments: { storyId: 'WEB-1' },
    });
    expect(linksIn(begun.body)).toEqual(['muster://stories/WEB-1/spec']);
    const { body } = await gateway.modern(token, 'resources/read', { uri: 'muster://stories/WEB-1/spec' });
    expect(JSON.stringify(body.result)).toContain('A line of the spec.');
  });

  it('that is whole leads nowhere, nor does one of an old version or to a client that knows no links', async () => {
    const token = await createTestBoard('A line of the spec.\n'.repeat(5_000));
    const spec = { name: 'storySpec_get', arguments: { storyId: 'WEB-1' } };
    const answers = [
      await gateway.modern(token, 'tools/call', { name: 'stories_get', arguments: { storyId: 'WEB-1' } }),
      await gateway.modern(token, 'tools/call', { ...spec, arguments: { storyId: 'WEB-1', version: 1 } }),
      await gateway.rpc(token, 'tools/call', spec),
      await gateway.rpc(token, 'tools/call', spec, { headers: { 'mcp-protocol-version': '2025-03-26' } }),
    ];
    expect(answers.flatMap(({ body }) => linksIn(body))).toEqual([]);
    const known = await gateway.rpc(token, 'tools/call', spec, {
      headers: { 'mcp-protocol-version': '2025-06-18' },
    });
    expect(linksIn(known.body)).toHaveLength(1);
  });
});

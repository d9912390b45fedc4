// MCP Apps: the clients that are offered views, and what views show and may do. `apps-access.long.spec.ts`
// tests accessibility.
import { describe, expect, it } from '@jest/globals';
import { useGateway } from './gateway.ts';
import { all, core, describeViews, makeTeam, mimeType, useViews } from './views.ts';

const gateway = useGateway();
const team = () => makeTeam(gateway);
const uiCapabilities = {
  'io.modelcontextprotocol/clientCapabilities': {
    extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [mimeType] } },
  },
};

const viewsOf = async (token: string, era: 'rpc' | 'modern', options = {}) => {
  const { body } = await gateway[era](token, 'tools/list', {}, options);
  const tools = body.result?.['tools'] as { name: string; _meta?: { ui?: { resourceUri: string } } }[];
  return Object.fromEntries(
    tools.flatMap(({ name, _meta }) => (_meta?.ui ? [[name, _meta.ui.resourceUri]] : [])),
  );
};

describe('the list of tools', () => {
  it('names views to clients that say they show them, and to no other', async () => {
    const { ana } = await team();
    const { token } = ana.me;
    expect(await viewsOf(token, 'modern', { meta: uiCapabilities, query: '?mode=full' })).toEqual(all);
    expect(await viewsOf(token, 'modern', { meta: uiCapabilities })).toEqual(core);
    expect(await viewsOf(token, 'modern')).toEqual({});
    expect(await viewsOf(token, 'rpc')).toEqual({});
    const otherKind = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/plain'] } } };
    const meta = { 'io.modelcontextprotocol/clientCapabilities': otherKind };
    expect(await viewsOf(token, 'modern', { meta })).toEqual({});
  });

  it('names them to a client of an older version, which says so once alone, by apps=1', async () => {
    const { ana } = await team();
    expect(await viewsOf(ana.me.token, 'rpc', { query: '?apps=1&mode=full' })).toEqual(all);
    expect(await viewsOf(ana.me.token, 'rpc', { headers: { 'x-mcp-apps': '1' } })).toEqual(core);
  });
});

it('gives no page at an address of none', async () => {
  const { ana } = await team();
  const { body } = await gateway.rpc(ana.me.token, 'resources/read', { uri: 'ui://muster/other' });
  expect(body.error?.code).toBe(-32602);
});

describeViews('a view', () => {
  const shows = useViews(gateway);

  it('of a board shows the stories by their status, who holds them and what blocks them, as text', async () => {
    const { ana, api } = await team();
    const blocked = {
      kind: 'external',
      note: 'Wait for the lawyer',
      unblockerMemberId: ana.me.memberId,
    } as const;
    await api.stories.update({ storyId: 'WEB-2', blocked });
    const { view, page } = await shows(ana.me.token, 'stories_list', { projectId: 'WEB', view: 'card' });
    await view.getByRole('heading', { name: 'Board' }).waitFor();
    const began = view.getByRole('region', { name: 'In progress' });
    await began.getByText('Sign in <b>safely</b>').waitFor();
    expect(await began.innerText()).toContain('Held by Robo');
    expect(await view.getByRole('region', { name: 'Backlog' }).innerText()).toContain('High');
    // Touch screens show no tooltips.
    expect(await view.getByText('Wait for the lawyer').isVisible()).toBe(true);
    await page.close();
  });

  it('of a story takes a verdict, and lets the model know; what is refused is said', async () => {
    const { ana, ben, api } = await team();
    const input = { storyId: 'WEB-1' };
    const early = await shows(ben.me.token, 'storyCollaboration_context', input, { canCall: true });
    await early.view.getByRole('button', { name: 'Send verdict' }).click();
    await early.view.getByText('Add yourself as a reviewer first').waitFor();
    expect(early.told).toEqual([]);
    await early.page.close();

    await api.reviewers.add({ storyId: 'WEB-1', memberId: ben.me.memberId });
    const { view, told, heard, page } = await shows(ben.me.token, 'storyCollaboration_context', input, {
      canCall: true,
    });
    await view.getByRole('radio', { name: 'Request changes' }).check();
    await view.getByRole('textbox').fill('Name the lock');
    await view.getByRole('button', { name: 'Send verdict' }).click();
    await view.getByText('Verdict on WEB-1 saved: Changes requested.').waitFor();
    const { items } = await gateway.apiClient(ana.me.token).reviewers.list({ storyId: 'WEB-1' });
    expect(items).toMatchObject([{ verdict: 'changes_requested', note: 'Name the lock' }]);
    await heard;
    expect(JSON.stringify(told)).toContain('changes_requested');
    await page.close();
  });

  it('says what was refused in place of an answer', async () => {
    const { ana } = await team();
    const { view, page } = await shows(ana.me.token, 'stories_list', { projectId: 'NONE' });
    expect(await view.getByRole('alert').innerText()).toMatch(/not/i);
    await page.close();
  });

  it('reaches nothing, and runs no script but its own', async () => {
    const { ana } = await team();
    const { view, page, requests } = await shows(ana.me.token, 'stories_list', { projectId: 'WEB' });
    await view.getByRole('heading', { name: 'Board' }).waitFor();
    const blocked = (await page.frames()[1]?.evaluate(`(async () => {
      const seen = [];
      document.addEventListener('securitypolicyviolation', (event) => seen.push(event.effectiveDirective));
      const fetched = await fetch('http://127.0.0.1:9/').then(() => true, () => false);
      const script = document.createElement('script');
      script.textContent = 'document.title = "run"';
      document.body.append(script);
      await new Promise((resolve) => setTimeout(resolve));
      return { fetched, title: document.title, seen };
    })()`)) as { seen: string[] };
    expect(blocked).toMatchObject({ fetched: false, title: 'Board' });
    expect(blocked.seen).toEqual(expect.arrayContaining(['connect-src', 'script-src-elem']));
    expect(requests.filter((url) => !/^(about|data|blob):/.test(url))).toEqual([]);
    await page.close();
  });
});

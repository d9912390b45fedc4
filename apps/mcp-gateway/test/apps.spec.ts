// MCP Apps: three answers as views, in a real browser, in the frame of a host that lets nothing through but its own bridge.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@muster/testing';
import { type Browser } from 'playwright-core';
import { useGateway } from './gateway.ts';
import { type Host, openBrowser, openHost, type Shown } from './host.ts';

const gateway = useGateway();
const mimeType = 'text/html;profile=mcp-app';
const announced = {
  'io.modelcontextprotocol/clientCapabilities': {
    extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [mimeType] } },
  },
};

async function team() {
  const people = await gateway.world.org();
  const api = gateway.direct(people.ana.me.token);
  await api.projects.create({ key: 'WEB', name: 'Web' });
  await api.stories.create({
    projectId: 'WEB',
    title: 'Sign in <b>safely</b>',
    status: 'ready',
    spec: '# Sign in',
  });
  await api.stories.create({ projectId: 'WEB', title: 'Search', status: 'backlog', priority: 'high' });
  await gateway.tool(people.robo.me.token, 'start_work', { storyId: 'WEB-1', resources: ['src/auth/**'] });
  return { ...people, api };
}

const viewsOf = async (token: string, era: 'rpc' | 'modern', options = {}) => {
  const { body } = await gateway[era](token, 'tools/list', {}, options);
  const tools = body.result?.['tools'] as { name: string; _meta?: { ui?: { resourceUri: string } } }[];
  return Object.fromEntries(
    tools.flatMap(({ name, _meta }) => (_meta?.ui ? [[name, _meta.ui.resourceUri]] : [])),
  );
};

const core = {
  stories_list: 'ui://muster/board',
  storyCollaboration_context: 'ui://muster/story',
};
const all = {
  ...core,
  agents_listActive: 'ui://muster/holders',
  locks_list: 'ui://muster/holders',
};

describe('the list of tools', () => {
  it('names views to clients that say they show them, and to no other', async () => {
    const { ana } = await team();
    const { token } = ana.me;
    expect(await viewsOf(token, 'modern', { meta: announced, query: '?mode=full' })).toEqual(all);
    expect(await viewsOf(token, 'modern', { meta: announced })).toEqual(core);
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

const htmlOf = async (token: string, name: string): Promise<string> => {
  const { body } = await gateway.rpc(token, 'resources/read', { uri: `ui://muster/${name}` });
  const [content] = body.result?.['contents'] as { mimeType: string; text: string }[];
  expect(content?.mimeType).toBe(mimeType);
  return content?.text ?? '';
};

it('gives no page at an address of none', async () => {
  const { ana } = await team();
  const { body } = await gateway.rpc(ana.me.token, 'resources/read', { uri: 'ui://muster/other' });
  expect(body.error?.code).toBe(-32602);
});

(openBrowser === undefined ? describe.skip : describe)('a view', () => {
  let browser: Browser;
  beforeAll(async () => {
    if (openBrowser !== undefined) browser = await openBrowser();
  });
  afterAll(() => browser.close());

  /** Calls the tool as a host does for its model, and shows the answer. */
  async function shows(
    token: string,
    name: keyof typeof all,
    input: object,
    how: Partial<Shown> = {},
  ): Promise<Host> {
    const host = await openHost(browser, (call) => gateway.tool(token, call.name, call.arguments));
    const result = await gateway.tool(token, name, input);
    const view = all[name].slice('ui://muster/'.length);
    await host.show({ html: await htmlOf(token, view), input, result, ...how });
    return host;
  }

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
    // A finger has no tooltip.
    expect(await view.getByText('Wait for the lawyer').isVisible()).toBe(true);
    await page.close();
  });

  it('of a board goes on where its list does', async () => {
    const { ana } = await team();
    const input = { projectId: 'WEB', limit: 1 };
    const { view, page } = await shows(ana.me.token, 'stories_list', input, { canCall: true });
    await view.getByText('1 story, and there are more').waitFor();
    await view.getByRole('button', { name: 'Show more' }).click();
    await view.getByText('2 stories', { exact: true }).waitFor();
    expect(await view.getByRole('button').count()).toBe(0);
    await page.close();
  });

  it('of a story takes a verdict, and lets the model know; what is refused is said', async () => {
    const { ana, ben, api } = await team();
    const input = { storyId: 'WEB-1' };
    const early = await shows(ben.me.token, 'storyCollaboration_context', input, { canCall: true });
    await early.view.getByRole('button', { name: 'Send verdict' }).click();
    await early.view.getByText('Become a reviewer first').waitFor();
    expect(early.told).toEqual([]);
    await early.page.close();

    await api.reviewers.add({ storyId: 'WEB-1', memberId: ben.me.memberId });
    const { view, told, heard, page } = await shows(ben.me.token, 'storyCollaboration_context', input, {
      canCall: true,
    });
    await view.getByRole('radio', { name: 'Request changes' }).check();
    await view.getByRole('textbox').fill('Name the lock');
    await view.getByRole('button', { name: 'Send verdict' }).click();
    await view.getByText('The verdict on WEB-1 is: Changes requested.').waitFor();
    const { items } = await gateway.direct(ana.me.token).reviewers.list({ storyId: 'WEB-1' });
    expect(items).toMatchObject([{ verdict: 'changes_requested', note: 'Name the lock' }]);
    await heard;
    expect(JSON.stringify(told)).toContain('changes_requested');
    await page.close();
  });

  it('of a story has no form where its host lets it call nothing', async () => {
    const { ana } = await team();
    const { view, page } = await shows(ana.me.token, 'storyCollaboration_context', { storyId: 'WEB-1' });
    await view.getByText('# Sign in').waitFor();
    expect(await view.getByRole('button').count()).toBe(0);
    await page.close();
  });

  it.each(['agents_listActive', 'locks_list'] as const)(
    'of who holds what begins with %s, and asks for the other',
    async (name) => {
      const { ana } = await team();
      const { view, page } = await shows(ana.me.token, name, { projectId: 'WEB' }, { canCall: true });
      await view.getByText('src/auth/**').waitFor();
      await view.getByRole('row', { name: /Robo.*WEB-1.*Running/ }).waitFor();
      await page.close();
    },
  );

  it('says what was refused in place of an answer', async () => {
    const { ana } = await team();
    const { view, page } = await shows(ana.me.token, 'stories_list', { projectId: 'NONE' });
    expect(await view.getByRole('alert').innerText()).toMatch(/not/i);
    await page.close();
  });

  it('takes theme and colours of its host, also when they change', async () => {
    const { ana } = await team();
    const variables = { '--color-background-primary': 'rgb(1, 2, 3)' };
    const how = { theme: 'dark', variables } as const;
    const { view, page } = await shows(ana.me.token, 'stories_list', { projectId: 'WEB' }, how);
    const looks = (scheme: string, ground: string) =>
      until(async () => {
        const found = await page
          .frames()[1]
          ?.evaluate(
            `[getComputedStyle(document.documentElement)].map((one) => one.colorScheme + ' ' + one.backgroundColor)[0]`,
          );
        return found === `${scheme} ${ground}`;
      });
    await looks('dark', 'rgb(1, 2, 3)');
    await page.evaluate(
      `bridge.setHostContext({ theme: 'light', styles: { variables: { '--color-background-primary': 'rgb(9, 9, 9)' } } })`,
    );
    await looks('light', 'rgb(9, 9, 9)');
    expect(await view.getByRole('heading', { name: 'Board' }).count()).toBe(1);
    await page.close();
  });

  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  it.each([
    ['light', 900],
    ['dark', 900],
    ['light', 390],
    ['dark', 390],
  ] as const)(
    'can be read by all who read by other means, and whole, %s at %d pixels',
    async (theme, width) => {
      const { ana } = await team();
      for (const [name, input] of [
        ['stories_list', { projectId: 'WEB', view: 'card' }],
        ['storyCollaboration_context', { storyId: 'WEB-1' }],
        ['locks_list', { projectId: 'WEB' }],
      ] as const) {
        const { view, page } = await shows(ana.me.token, name, input, { canCall: true, theme });
        await page.setViewportSize({ width, height: 700 });
        await view.getByRole('heading', { level: 1 }).waitFor();
        const frame = page.frames()[1];
        await frame?.evaluate(axe);
        const { violations } = (await frame?.evaluate(
          `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })`,
        )) as { violations: { id: string; nodes: { html: string }[] }[] };
        expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
        // As high as what is in it, and never wider than its host.
        await until(
          async () =>
            (await frame?.evaluate(`document.documentElement.scrollHeight <= innerHeight`)) === true,
        );
        expect(await frame?.evaluate(`document.documentElement.scrollWidth <= innerWidth`)).toBe(true);
        // As large as a fingertip where there is no pointer that is smaller.
        const least = (await frame?.evaluate(
          `Math.min(...[...document.querySelectorAll('button, .choice')].map((one) => one.getBoundingClientRect().height))`,
        )) as number;
        expect(least).toBeGreaterThanOrEqual(width < 460 ? 40 : 28);
        await page.close();
      }
    },
  );

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

/** Shows views in a real browser, in the frame of a host that blocks everything except its own bridge. */
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { type Browser } from 'playwright-core';
import { type TestGateway } from './gateway.ts';
import { type McpHost, openBrowser, openHost, type ViewContent } from './host.ts';

export const mimeType = 'text/html;profile=mcp-app';

/** The views of tools in the core list. */
export const core = {
  stories_list: 'ui://muster/board',
  storyCollaboration_context: 'ui://muster/story',
};
/** The views of all tools. */
export const all = {
  ...core,
  agents_listActive: 'ui://muster/holders',
  locks_list: 'ui://muster/holders',
};

export type ViewsTeam = Awaited<ReturnType<typeof makeTeam>>;

/** Creates an organization with one story that an agent holds and one in the backlog. */
export async function makeTeam(gateway: TestGateway) {
  const people = await gateway.world.org();
  const api = gateway.apiClient(people.ana.me.token);
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

export const htmlOf = async (gateway: TestGateway, token: string, name: string): Promise<string> => {
  const { body } = await gateway.rpc(token, 'resources/read', { uri: `ui://muster/${name}` });
  const [content] = body.result?.['contents'] as { mimeType: string; text: string }[];
  expect(content?.mimeType).toBe(mimeType);
  return content?.text ?? '';
};

/** Describes tests of views; skipped if no browser is installed. */
export const describeViews = openBrowser === undefined ? describe.skip : describe;

export type ShowView = (
  token: string,
  name: keyof typeof all,
  input: object,
  how?: Partial<ViewContent>,
) => Promise<McpHost>;

/** Returns a function that calls a tool as a host does for its model, and shows the result. */
export function useViews(gateway: TestGateway): ShowView {
  let browser: Browser;
  beforeAll(async () => {
    if (openBrowser !== undefined) browser = await openBrowser();
  });
  afterAll(() => browser.close());
  return async (token, name, input, how = {}) => {
    const host = await openHost(browser, (call) => gateway.tool(token, call.name, call.arguments));
    const result = await gateway.tool(token, name, input);
    const view = all[name].slice('ui://muster/'.length);
    await host.show({ html: await htmlOf(gateway, token, view), input, result, ...how });
    return host;
  };
}

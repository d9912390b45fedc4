/** Tests the first run of an organization, and the page that connects an agent. */
import { beforeEach, expect } from '@jest/globals';
import { type People } from '@muster/testing';
import { journey } from './browser.ts';
import { type House } from './house.ts';
import { useWindows } from './windows.ts';

export function startJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
  });

  journey('leads through the first run, whose steps can be skipped and come back', async () => {
    const page = await open(people.ana.me.token, '/');
    await page.getByRole('heading', { name: 'Get started', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/start');
    const step = (name: string) => page.locator('main').getByRole('button', { name: new RegExp(`^${name}`) });
    await page.getByLabel('Name').fill('Web shop');
    await page.getByRole('button', { name: 'Create project' }).click();
    await step('Create a project Done').waitFor();
    // The next step opens by itself.
    await page.getByRole('button', { name: 'Skip for now Connect an agent' }).click();
    await step('Connect an agent Skipped').waitFor();
    expect(await step('Connect an agent').getAttribute('aria-expanded')).toBe('false');
    await page.getByRole('link', { name: 'My work', exact: true }).click();
    await page.getByRole('heading', { name: 'You’re all caught up' }).waitFor();
    // The navigation leads back, and the skipped step is still offered.
    await page.getByRole('link', { name: 'Get started' }).click();
    await step('Connect an agent Skipped').click();
    await page.getByRole('button', { name: 'Create agent and token' }).click();
    await page.getByText('Claude Code is ready').waitFor();
    const command = await page.getByLabel('With the muster command').textContent();
    const [, secret = ''] = /MUSTER_TOKEN='([^']+)'/.exec(command ?? '') ?? [];
    expect(await step('Connect an agent Done').count()).toBe(0);
    expect((await house.client(secret).session.identity()).agent?.name).toBe('Claude Code');
    await page.getByText('Connected. The first call has arrived.').waitFor();
    await step('Connect an agent Done').waitFor();
    // All steps are done, because the organization already has several members.
    await page.getByText('You’re all set').waitFor();
    await page.getByRole('link', { name: 'Get started' }).waitFor({ state: 'detached' });
    await step('Create a project').click();
    await page.getByRole('link', { name: 'Import stories' }).click();
    await page.waitForURL(/\/p\/WS\/settings\/import$/);
  });

  journey('hides the first run on request, and asks no one for what they may not do', async () => {
    const page = await open(people.ana.me.token, '/');
    await page.getByRole('button', { name: 'Hide from navigation' }).click();
    await page.getByRole('heading', { name: 'You’re all caught up' }).waitFor();
    expect(await page.getByRole('navigation').getByRole('link', { name: 'Get started' }).count()).toBe(0);
    await page.locator('main').getByRole('link', { name: 'Get started' }).click();
    await page.getByRole('heading', { name: 'Invite colleagues' }).waitFor();
    const members = await open(people.chloe.me.token, '/');
    await members.getByRole('heading', { name: 'Connect an agent' }).waitFor();
    expect(await members.getByRole('heading', { name: 'Invite colleagues' }).count()).toBe(0);
    const viewers = await open(people.dan.me.token, '/');
    await viewers.getByText('You’re not in a project yet').waitFor();
    await house.go(viewers, '/start');
    await viewers.getByRole('heading', { name: 'You don’t have access to this' }).waitFor();
    await house.go(viewers, '/connect-agent');
    await viewers.getByRole('heading', { name: 'You don’t have access to this' }).waitFor();
  });

  journey('creates an agent once, for all clients, and limits it to a project', async () => {
    const ana = house.client(people.ana.me.token);
    for (const [key, name] of [
      ['WEB', 'Web shop'],
      ['APP', 'App'],
    ] as const)
      await ana.projects.create({ key, name });
    const page = await open(people.ana.me.token, '/agents');
    await page.getByRole('link', { name: 'Connect an agent' }).click();
    const tab = (name: string) => page.getByRole('button', { name, exact: true });
    await tab('Codex').click();
    expect(await page.getByLabel('Agent name').inputValue()).toBe('Codex');
    await page.getByLabel('Agent name').fill('Builder');
    await page.getByLabel('Project').selectOption('APP');
    await page.getByRole('button', { name: 'Create agent and token' }).click();
    await page.getByText('Builder is ready').waitFor();
    const secrets = new Set<string>();
    const shown = async (name: string): Promise<string> => (await page.getByLabel(name).textContent()) ?? '';
    const url = `${house.url()}/api/mcp?project=APP`;
    for (const [name, command] of [
      ...[['Codex', 'codex'] as const, ['Claude Code', 'claude'] as const, ['Cursor', 'cursor'] as const],
      ...[['Gemini CLI', 'gemini'] as const, ['GitHub Copilot CLI', 'copilot'] as const],
      ...[['OpenCode', 'opencode'] as const, ['VS Code', 'vscode'] as const],
    ]) {
      await tab(name).click();
      const setup = await shown('With the muster command');
      expect(setup).toContain(`muster setup ${command} --auth token --project APP`);
      secrets.add(/MUSTER_TOKEN='([^']+)'/.exec(setup)?.[1] ?? '');
      const mcp = await shown('With the MCP server only');
      expect(mcp).toContain(url);
      expect(mcp).toContain([...secrets][0]);
      if (mcp.startsWith('{')) JSON.parse(mcp);
    }
    expect(secrets.size).toBe(1);
    expect((await ana.agents.list({})).items.filter((one) => one.name === 'Builder')).toHaveLength(1);
    const builder = house.client([...secrets][0] ?? '');
    expect((await builder.projects.list({})).items.map(({ key }) => key)).toEqual(['APP']);
    await page.getByText('Connected. The first call has arrived.').waitFor();
    // Another token can be created for the same agent.
    await page.getByRole('button', { name: 'Connect another agent' }).click();
    await page.getByLabel('Agent', { exact: true }).selectOption({ label: 'Builder' });
    await page.getByRole('button', { name: 'Create agent and token' }).click();
    await page.getByText('Waiting for the first call').waitFor();
    expect((await ana.agents.list({})).items.filter((one) => one.name === 'Builder')).toHaveLength(1);
  });
}

// MCP Apps: views with a keyboard, a screen reader, a phone and the host's colors.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from '@jest/globals';
import { waitUntil } from '@muster/testing';
import { useGateway } from './gateway.ts';
import { describeViews, makeTeam, useViews } from './views.ts';

const gateway = useGateway();
const createTeam = () => makeTeam(gateway);

describeViews('a view', () => {
  const shows = useViews(gateway);

  it('of a board goes on where its list does', async () => {
    const { ana } = await createTeam();
    const input = { projectId: 'WEB', limit: 1 };
    const { view, page } = await shows(ana.me.token, 'stories_list', input, { canCall: true });
    await view.getByText('1 story, and there are more').waitFor();
    await view.getByRole('button', { name: 'Show more' }).click();
    await view.getByText('2 stories', { exact: true }).waitFor();
    expect(await view.getByRole('button').count()).toBe(0);
    await page.close();
  });

  it('of a story has no form where its host lets it call nothing', async () => {
    const { ana } = await createTeam();
    const { view, page } = await shows(ana.me.token, 'storyCollaboration_context', { storyId: 'WEB-1' });
    await view.getByText('# Sign in').waitFor();
    expect(await view.getByRole('button').count()).toBe(0);
    await page.close();
  });

  it.each(['agents_listActive', 'locks_list'] as const)(
    'of who holds what begins with %s, and asks for the other',
    async (name) => {
      const { ana } = await createTeam();
      const { view, page } = await shows(ana.me.token, name, { projectId: 'WEB' }, { canCall: true });
      await view.getByText('src/auth/**').waitFor();
      await view.getByRole('row', { name: /Robo.*WEB-1.*Running/ }).waitFor();
      await page.close();
    },
  );

  it('takes theme and colours of its host, also when they change', async () => {
    const { ana } = await createTeam();
    const variables = { '--color-background-primary': 'rgb(1, 2, 3)' };
    const how = { theme: 'dark', variables } as const;
    const { view, page } = await shows(ana.me.token, 'stories_list', { projectId: 'WEB' }, how);
    const looks = (scheme: string, ground: string) =>
      waitUntil(async () => {
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
      const { ana } = await createTeam();
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
        // The frame is as high as its content, and never wider than its host.
        await waitUntil(
          async () =>
            (await frame?.evaluate(`document.documentElement.scrollHeight <= innerHeight`)) === true,
        );
        expect(await frame?.evaluate(`document.documentElement.scrollWidth <= innerWidth`)).toBe(true);
        // Without a precise pointer, controls are as large as a fingertip.
        const least = (await frame?.evaluate(
          `Math.min(...[...document.querySelectorAll('button, .choice')].map((one) => one.getBoundingClientRect().height))`,
        )) as number;
        expect(least).toBeGreaterThanOrEqual(width < 460 ? 40 : 28);
        await page.close();
      }
    },
  );
});

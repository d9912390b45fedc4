/** Removes each protection once, to prove that the other journeys would notice. */
import { beforeEach, expect } from '@jest/globals';
import { type People } from '@muster/testing';
import { contentSecurityPolicy } from '../src/app.ts';
import { goTo, intercept, journey } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function controlsJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha'], ready: [], in_progress: [] });
  });

  journey('would overwrite what another wrote, were no version expected', async () => {
    const ben = house.client(people.ben.me.token);
    const story = async () => (await ben.stories.get({ storyId: 'WEB-1' })).story;
    /** Chooses a priority on an outdated page, after someone else changed it. */
    const choose = async (isExpected: boolean): Promise<string> => {
      const page = await open(people.ana.me.token, '/s/WEB-1');
      const priority = page.getByLabel('Priority', { exact: true });
      await priority.waitFor();
      await intercept(page, '**/api/storyCollaboration/context', () => undefined);
      await intercept(page, '**/api/stories/update', async (route) => {
        const { expectedVersion, ...rest } = route.request().postDataJSON() as Record<string, unknown>;
        expect(typeof expectedVersion).toBe('number');
        await route.continue(isExpected ? {} : { postData: rest });
      });
      await ben.stories.update({ storyId: 'WEB-1', priority: 'low' });
      const answered = page.waitForResponse('**/api/stories/update');
      await priority.selectOption({ label: 'Urgent' });
      await answered;
      return (await story()).priority;
    };
    expect(await choose(true)).toBe('low');
    expect(await choose(false)).toBe('urgent');
  });

  journey('would take text for elements, were Trusted Types not required', async () => {
    // The test provokes violations of the content security policy, so it does not treat them as failures.
    const window = await house.visit('/');
    const { page } = window;
    const write = () =>
      page.evaluate(
        `(() => { try { document.body.innerHTML = '<b>x</b>'; return 'let'; } catch { return 'refused'; } })()`,
      );
    await page.getByLabel('Token').waitFor();
    const policy = contentSecurityPolicy.split('; ').filter((rule) => !rule.startsWith('require-trusted'));
    await page.route('**/console/', async (route) => {
      const response = await route.fetch();
      const headers = { ...response.headers(), 'content-security-policy': policy.join('; ') };
      await route.fulfill({ response, headers });
    });
    await goTo(page, page.url());
    await page.getByLabel('Token').waitFor();
    expect(await write()).toBe('let');
    await page.unroute('**/console/');
    await goTo(page, page.url());
    await page.getByLabel('Token').waitFor();
    expect(await write()).toBe('refused');
    await window.close();
  });
}

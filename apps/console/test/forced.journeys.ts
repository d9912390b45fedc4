/**
 * Tests forced colors and the smallest screens. Information shown by a background color must also be visible
 * when the browser removes that color.
 */
import { beforeEach, expect } from '@jest/globals';
import { type Locator, type Page } from 'playwright-core';
import { type People } from '@muster/testing';
import { dragUntil, journey, pickUp } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function forcedJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: ['Alpha', 'Beta'], ready: [], in_progress: [] });
  });

  const names = [
    'outlineStyle',
    'outlineWidth',
    'borderTopStyle',
    'borderTopWidth',
    'backgroundColor',
  ] as const;
  const styleOf = (element: Locator): Promise<Record<string, string>> =>
    element.evaluate((node: unknown, wanted) => {
      const page = globalThis as unknown as { getComputedStyle(node: unknown): Record<string, string> };
      const style = page.getComputedStyle(node);
      return Object.fromEntries(wanted.map((name) => [name, style[name] ?? '']));
    }, names);
  /** Returns the style and width of an element's outline and border, which stay visible with forced colors. */
  async function lines(element: Locator): Promise<string> {
    const style = await styleOf(element);
    const line = (name: string): string => `${style[`${name}Style`]} ${style[`${name}Width`]}`;
    const outline = style['outlineStyle'] === 'none' ? '' : `outline ${line('outline')} `;
    return `${outline}border ${line('borderTop')}`;
  }
  const background = async (element: Locator): Promise<string> =>
    (await styleOf(element))['backgroundColor'] ?? '';

  journey(
    'shows focus, selection, what is moved and where it would go by lines, where colours are forced',
    async () => {
      const page = await open(people.ana.me.token, '/p/WEB', { forcedColors: 'active' });
      const [alpha, beta] = [
        page.getByRole('link', { name: 'Alpha' }),
        page.getByRole('link', { name: 'Beta' }),
      ];
      await alpha.waitFor();
      expect(await lines(beta)).toBe('border solid 1px');
      await page.keyboard.press('ArrowDown');
      await page.locator(':focus').and(alpha).waitFor();
      expect(await lines(alpha)).toBe('outline solid 2px border solid 1px');
      await page.keyboard.press('x');
      await page.locator('.card[data-selected]').waitFor();
      await page.keyboard.press('ArrowDown');
      expect(await lines(alpha)).toBe('border solid 2px');
      await page.keyboard.press('m');
      await page.locator('.card[data-moving]').waitFor();
      expect(await lines(beta)).toBe('outline dashed 3px border solid 1px');
      await page.keyboard.press('Escape');
      // The current page has a different background than its neighbors in the rail and in a list.
      const [here, other] = [
        page.getByRole('link', { name: 'Web shop' }),
        page.getByRole('link', { name: 'Agents at work' }),
      ];
      expect(await background(here)).not.toBe(await background(other));
      const target = page.getByRole('region', { name: 'Ready', exact: true });
      const over = await pickUp(page, alpha, target);
      await page.mouse.move(over.x + 60, over.y + 200, { steps: 8 });
      const line = target.locator('.drop-line');
      await dragUntil(page, { x: over.x + 60, y: over.y + 200 }, line);
      expect(await lines(target)).toBe('outline solid 2px border none 0px');
      expect(await background(line)).not.toBe(await background(page.locator('body')));
      await page.mouse.up();
      await page.keyboard.press('Control+k');
      const options = page.getByRole('dialog').getByRole('option');
      await options.first().waitFor();
      const [chosen, next] = [options.first(), options.nth(1)];
      expect(await background(chosen)).not.toBe(await background(next));
    },
  );

  journey('keeps four places in the bar of a phone, and all boards in a sheet', async () => {
    const ana = house.client(people.ana.me.token);
    for (const key of ['AAA', 'BBBBBB', 'CCCCCC', 'DDD']) await ana.projects.create({ key, name: key });
    const page = await open(people.ana.me.token, '/p/DDD', { viewport: { width: 320, height: 568 } });
    const bar = page.getByRole('navigation', { name: 'Main' });
    const places = ['My work', 'Inbox', 'Agents'].map((name) => bar.getByRole('link', { name, exact: true }));
    const menu = bar.getByRole('button', { name: 'Menu' });
    for (const place of [...places, menu]) {
      await place.waitFor();
      const box = await place.boundingBox();
      if (box === null) throw new Error('the place is not on the page');
      expect([box.x >= 0, box.x + box.width <= 320, box.height >= 44]).toEqual([true, true, true]);
    }
    await menu.click();
    const sheet = page.getByRole('dialog', { name: 'Menu' });
    await sheet.getByRole('link', { name: 'DDD' }).and(page.locator('[aria-current="page"]')).waitFor();
    await sheet.getByRole('button', { name: 'Ana' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    for (const [name, title] of [
      ['Create story', 'New story'],
      ['Search', 'Go to'],
    ] as const) {
      await menu.click();
      await sheet.getByRole('button', { name }).click();
      await page.getByRole('dialog', { name: title }).waitFor();
      await page.keyboard.press('Escape');
    }
    await menu.click();
    await sheet.getByRole('link', { name: 'CCCCCC' }).click();
    await sheet.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'CCCCCC' }).waitFor();
    await places[0]?.click();
    await page.getByRole('heading', { name: 'My work' }).waitFor();
  });

  /** Returns the controls that are too small for a thumb, and whether the page scrolls sideways. */
  const findSmallControls = (page: Page): Promise<unknown> =>
    page.evaluate(`({
      isTooWide: [document.documentElement, ...document.querySelectorAll('.page')]
        .some((element) => element.scrollWidth > element.clientWidth + 1),
      small: [...document.querySelectorAll('main :is(button, select, .field, a.button), .phone-bar :is(a, button)')]
        .filter((element) => element.checkVisibility() && element.closest('.sr-only') === null)
        .filter((element) => element.getBoundingClientRect().height < 36)
        .map((element) => element.outerHTML.slice(0, 120)),
    })`);

  journey('takes every daily action by a thumb on the smallest phone', async () => {
    const ana = house.client(people.ana.me.token);
    const { memberId, handle } = people.ana.me;
    await house.client(people.ben.me.token).reviewers.add({ storyId: 'WEB-2', memberId });
    await house.client(people.ben.me.token).comments.create({ storyId: 'WEB-1', body: `@${handle} which?` });
    const phone = { viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true };
    const page = await open(people.ana.me.token, '/p/WEB', phone);
    await page.getByRole('button', { name: 'Actions for WEB-1' }).tap();
    await page.getByRole('menuitem', { name: 'Move to Ready' }).tap();
    await page.getByRole('region', { name: 'Ready', exact: true }).getByText('Alpha').waitFor();
    await page.getByRole('button', { name: 'Add a story to Backlog' }).tap();
    await page.getByPlaceholder('Title of the new story').fill('Gamma');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Gamma' }).waitFor();
    const bar = page.getByRole('navigation', { name: 'Main' });
    await bar.getByRole('link', { name: 'My work' }).tap();
    await page.getByRole('link', { name: 'Review WEB-2' }).tap();
    await page.getByRole('button', { name: 'Approve' }).tap();
    await page.getByText('approved').first().waitFor();
    await bar.getByRole('link', { name: 'Inbox' }).tap();
    await page.getByRole('button', { name: 'Mark all as done' }).tap();
    await page.getByRole('region', { name: 'Action needed' }).waitFor({ state: 'detached' });
    expect((await ana.notifications.unreadCount()).unread).toBe(0);
    for (const [address, sign] of [
      ['/p/WEB', 'Beta'],
      ['/s/WEB-1', 'which?'],
      ['/inbox', 'Done'],
      ['/stories', 'Beta'],
      ['/agents', 'No work in progress'],
      ['/settings/members', 'Chloé'],
      ['/connect-agent', 'Create agent and token'],
    ] as const) {
      await house.go(page, address);
      await page.locator('main').getByText(sign).first().waitFor();
      expect([address, await findSmallControls(page)]).toEqual([address, { isTooWide: false, small: [] }]);
    }
  });
}

/**
 * Tests the accessibility of every page in both themes and at three widths: for screen readers, low vision,
 * and keyboard use.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from '@jest/globals';
import { type AxeResults } from 'axe-core';
import { type People } from '@muster/testing';
import { type Page } from 'playwright-core';
import { t } from '../web/messages/index.ts';
import { journey } from './browser.ts';
import { furnish, pages } from './furnished.ts';
import { type House, type Window } from './house.ts';

export function accessJourneys(house: House): void {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

  /** WCAG 2.2 AA, and best practices beyond it. */
  const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

  /** Returns violations: the rule and the element. */
  async function brokenRules(page: Page, only: readonly string[] = wcag, not = {}): Promise<string[]> {
    const { violations } = (await page.evaluate(
      `axe.run(document, ${JSON.stringify({ runOnly: only, rules: not, resultTypes: ['violations'] })})`,
    )) as AxeResults;
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  }

  /**
   * Returns by how many pixels the page overflows its window sideways and, for pages in the frame, downwards.
   * Content must scroll inside the frame.
   */
  const overhang = (page: Page): Promise<unknown> =>
    page.evaluate(`{
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.documentElement;
      scrollWidth - clientWidth + (document.querySelector('.shell') === null ? 0 : scrollHeight - clientHeight);
    }`);

  /**
   * Presses Tab, and returns the element that gets the focus if it looks the same with and without keyboard
   * focus.
   */
  async function unseenFocus(page: Page): Promise<unknown> {
    await page.keyboard.press('Tab');
    return page.evaluate(`{
      const look = (element) => {
        const { outlineStyle, outlineColor, boxShadow, borderColor } = getComputedStyle(element);
        const hasOutline = outlineStyle !== 'none' && outlineColor !== 'rgba(0, 0, 0, 0)';
        return [hasOutline, boxShadow, borderColor].join();
      };
      const all = document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]');
      // Controls with the same tag, class and type look alike, so one of them is enough.
      const kinds = new Map([...all].map((element) => [element.tagName + element.className + element.type, element]));
      [...kinds.values()].filter((element) => {
        element.focus({ preventScroll: true });
        if (document.activeElement !== element) return false;
        const focused = look(element);
        element.blur();
        return focused === look(element);
      }).map(({ outerHTML }) => outerHTML.slice(0, 160));
    }`);
  }

  /** Each page is opened once and then checked in all its variants. */
  const windows = 3;
  const wide = { width: 1920, height: 1080 };
  const usual = { width: 1440, height: 900 };
  const narrow = { width: 320, height: 640 };
  const calm = { viewport: wide, colorScheme: 'light', reducedMotion: 'reduce' } as const;
  /** A theme changes only colors, and colors do not depend on the width. */
  const colours = ['color-contrast'];
  const butColours = { 'color-contrast': { enabled: false } };

  /** Checks the page in both themes and at three widths, and then restores the theme and the width. */
  async function look(page: Page): Promise<object> {
    const light = await brokenRules(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await brokenRules(page, colours);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(narrow);
    // A page may render another layout at this width.
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    const small = await brokenRules(page, wcag, butColours);
    const over = await overhang(page);
    const overhangs = [over];
    for (const size of [usual, wide]) {
      await page.setViewportSize(size);
      overhangs.push(await overhang(page));
    }
    return { light, dark, small, overhang: overhangs, unseenFocus: await unseenFocus(page) };
  }
  const nothing = { light: [], dark: [], small: [], overhang: [0, 0, 0], unseenFocus: [] };

  let people: People;
  let isFurnished = false;
  const enter = async (): Promise<Window> => {
    if (!isFurnished) {
      people = await house.world.org();
      await furnish(house, people);
      isFurnished = true;
    }
    const window = await house.open(people.ana.me.token, '/p/WEB', calm);
    await window.page.evaluate(axe);
    return window;
  };

  journey.each(Array.from({ length: windows }, (_, part) => [part + 1, windows] as const))(
    'breaks no rule of WCAG 2.2 AA on any page, in both themes, wide and at 320 px (part %i of %i)',
    async (part) => {
      const window = await enter();
      const { page, faults } = window;
      for (const [address, ...signs] of pages.filter((_, index) => index % windows === part - 1)) {
        await house.go(page, address);
        for (const sign of signs) await page.locator('main').getByText(sign).first().waitFor();
        expect({ address, faults, ...(await look(page)) }).toEqual({ address, faults: [], ...nothing });
      }
      await window.close();
    },
  );

  journey('shows what is secondary at the side of a wide window, and below in a narrower one', async () => {
    const window = await enter();
    const { page } = window;
    for (const [address, first, second] of [
      ['/s/WEB-1', 'Spec', 'Comments'],
      ['/runs/run-1', 'Log', 'Steps'],
      ['/p/WEB/epics', 'Epics', 'Delivery groups'],
      ['/p/WEB/health', 'Lead time', 'Done to merged'],
      ['/settings/members', 'Members', 'Invitations'],
    ] as const) {
      await house.go(page, address);
      const leftOf = async (name: string): Promise<number> => {
        const heading = page.locator('main').getByRole('heading', { name, level: 2, exact: true });
        return Math.round((await heading.boundingBox())?.x ?? 0);
      };
      const isBeside: boolean[] = [];
      for (const size of [wide, { width: 1280, height: 900 }]) {
        await page.setViewportSize(size);
        isBeside.push((await leftOf(second)) > (await leftOf(first)) + 300);
      }
      expect({ address, isBeside }).toEqual({ address, isBeside: [true, false] });
    }
    await window.close();
  });

  journey('breaks none where one signs in, writes, and talks about a line', async () => {
    const gate = await house.visit('/', calm);
    await gate.page.getByLabel('Token').waitFor();
    await gate.page.evaluate(axe);
    expect(await look(gate.page)).toEqual(nothing);
    await gate.close();
    const window = await enter();
    const { page } = window;
    await house.go(page, '/s/WEB-1');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('toolbar', { name: 'Formatting' }).waitFor();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\n@a');
    await page.getByRole('listbox', { name: 'Suggestions' }).waitFor();
    await page.getByRole('region', { name: 'Preview' }).waitFor();
    expect(await look(page)).toEqual(nothing);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByRole('button', { name: t.questions.discard.yes }).click();
    await page.getByRole('button', { name: 'Show lines' }).click();
    await page.getByRole('button', { name: 'Comment on line 1' }).click();
    await page.getByRole('button', { name: 'Edit title' }).click();
    await page.getByRole('button', { name: 'Add a description' }).click();
    await page.getByRole('toolbar', { name: 'Formatting' }).first().waitFor();
    await page.getByRole('button', { name: 'Mark as blocked' }).click();
    expect(await look(page)).toEqual(nothing);
    await house.go(page, '/p/WEB/epics');
    await page.getByRole('button', { name: 'Edit Sign up' }).click();
    await page.getByLabel('Use a color').check();
    expect(await look(page)).toEqual(nothing);
    await house.go(page, '/p/WEB/apply-plan?plan=launch');
    await page
      .getByLabel('Plan', { exact: true })
      .fill(
        '[{ ref: a, title: A, touches: [src] }, { ref: b, title: B, touches: [src/b], spec: B }, { ref: c, title: C, dependsOn: [b] }]',
      );
    await page.getByRole('button', { name: 'Preview changes' }).click();
    await page.getByText('Show changes').click();
    await page.locator('.plan-change ins').first().waitFor();
    expect(await look(page)).toEqual(nothing);
    await page.getByRole('button', { name: 'Apply plan' }).click();
    await page.getByRole('region', { name: 'Conflicts' }).waitFor();
    expect(await look(page)).toEqual(nothing);
    await window.close();
  });
}

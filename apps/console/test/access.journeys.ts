/** Every page in both themes and three widths, for those who do not see, or see little, or use no mouse. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from '@jest/globals';
import { type AxeResults } from 'axe-core';
import { type Page } from 'playwright-core';
import { journey } from './browser.ts';
import { furnish, pages } from './furnished.ts';
import { type House } from './house.ts';

export function accessJourneys(house: House): void {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

  const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

  /** What breaks WCAG 2.2 AA: the rule, and on what. */
  async function brokenRules(page: Page, only: readonly string[] = wcag, not = {}): Promise<string[]> {
    const { violations } = (await page.evaluate(
      `axe.run(document, ${JSON.stringify({ runOnly: only, rules: not })})`,
    )) as AxeResults;
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  }

  /** Nothing is cut off or to be scrolled to sideways, but for the columns of a board. */
  const overhang = (page: Page): Promise<unknown> =>
    page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

  journey.each(['light', 'dark'] as const)(
    'breaks no rule of WCAG 2.2 AA on any page in the %s theme, at any width',
    async (colorScheme) => {
      const people = await house.world.org();
      await furnish(house, people);
      for (const [width, height] of [
        [1440, 900],
        [320, 640],
      ] as const) {
        const options = { colorScheme, viewport: { width, height } };
        // What a theme changes is colour, and colour does not change with the width.
        if (colorScheme === 'dark' && width !== 1440) continue;
        const rules = colorScheme === 'light' ? wcag : ['color-contrast'];
        // It takes longer than all other rules together.
        const not = width === 1440 ? {} : { 'color-contrast': { enabled: false } };
        const gate = await house.visit('/', options);
        await gate.page.getByLabel('Token').waitFor();
        await gate.page.evaluate(axe);
        expect([await brokenRules(gate.page), await overhang(gate.page)]).toEqual([[], 0]);
        await gate.close();
        const window = await house.open(people.ana.me.token, '/p/WEB', options);
        const { page, faults } = window;
        await page.evaluate(axe);
        for (const [address, sign] of pages) {
          await house.go(page, address);
          await page.locator('main').getByText(sign).first().waitFor();
          const seen = {
            address,
            width,
            broken: await brokenRules(page, rules, not),
            overhang: await overhang(page),
            faults,
          };
          expect(seen).toEqual({ address, width, broken: [], overhang: 0, faults: [] });
        }
        if (width === 1440) {
          await house.go(page, '/s/WEB-1');
          await page.getByRole('button', { name: 'Edit', exact: true }).click();
          await page.getByRole('textbox', { name: 'Spec, in Markdown' }).waitFor();
          expect(await brokenRules(page)).toEqual([]);
          await page.getByRole('button', { name: 'Cancel' }).click();
          await page.getByRole('button', { name: 'By lines' }).click();
          await page.getByRole('button', { name: 'Comment on line 1' }).click();
          expect(await brokenRules(page)).toEqual([]);
        }
        await window.close();
      }
    },
  );
}

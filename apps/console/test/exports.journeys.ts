/** Tests the settings of exports: starting one, its progress, and the download. */
import { beforeEach, expect } from '@jest/globals';
import { type People } from '@muster/testing';
import { journey } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function exportsJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: [], ready: ['Say hello'], in_progress: [] });
  });

  journey('starts exports, shows their progress, and offers the archive', async () => {
    const page = await open(people.ana.me.token, '/settings/exports');
    await page.getByText('No exports yet').waitFor();
    await page.getByRole('button', { name: 'Export organization' }).click();
    await page.getByText('Waiting', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Export organization' }).isDisabled()).toBe(true);
    const change = (assignments: string) =>
      house.world.rows(`update exports set ${assignments} where org_id = $1`, people.orgId);
    await change(`state = 'running', progress = 40`);
    await page.getByText('40%').waitFor();
    await change(`state = 'done', progress = 100, size = 48213, finished_at = now(),
      expires_at = now() + interval '7 days'`);
    const link = page.getByRole('link', { name: /^Download Organization/ });
    await link.waitFor();
    expect(await link.getAttribute('href')).toMatch(/\/files\/.*\/exports\/.*signature=/);
    await page.getByRole('button', { name: 'Export my data' }).click();
    await page.getByText('Waiting', { exact: true }).waitFor();
    await change(`state = 'failed', failure = 'storage_missing', finished_at = now()`);
    await page.getByText('This installation has no storage for files.').first().waitFor();
  });

  journey('lets members export their own data, and leads their project', async () => {
    const page = await open(people.dan.me.token, '/settings/exports');
    await page.getByRole('button', { name: 'Export my data' }).waitFor();
    expect(await page.getByRole('button', { name: 'Export organization' }).count()).toBe(0);
    const lead = await open(people.ana.me.token, '/p/WEB/settings/exports');
    await lead.getByRole('button', { name: 'Export project' }).click();
    await lead.getByText('Waiting', { exact: true }).waitFor();
  });
}

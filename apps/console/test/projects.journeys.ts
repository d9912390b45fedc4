/** A project is made where people look for it. */
import { beforeEach, expect } from '@jest/globals';
import { type People } from '@muster/testing';
import { journey } from './browser.ts';
import { type House } from './house.ts';
import { useWindows } from './windows.ts';

export function projectsJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
  });

  journey('makes a project by keys, with a key from its name, and opens its board', async () => {
    const page = await open(people.chloe.me.token, '/');
    // Where there is none yet, also in what one sees first.
    await page.locator('main').getByRole('link', { name: 'New project' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('new pro');
    await page.keyboard.press('Enter');
    await page.locator(':focus').and(page.getByLabel('Name')).waitFor();
    await page.keyboard.type('Éditions Straße');
    const key = page.getByLabel('Key', { exact: true });
    expect(await key.inputValue()).toBe('ES');
    await page.getByText('Its stories are called ES-1').waitFor();
    await key.fill('shop9');
    expect(await key.inputValue()).toBe('SHOP9');
    // Left empty, it follows the name again.
    await key.fill('');
    expect(await key.inputValue()).toBe('ES');
    await page.getByLabel('Description').fill('What we print');
    await page.getByLabel('Who may see it').selectOption('private');
    await page.getByLabel('Description').press('Tab');
    await page.getByRole('button', { name: 'Make the project' }).press('Enter');
    await page.getByRole('heading', { name: 'Éditions Straße' }).waitFor();
    await page.getByRole('region', { name: 'In review', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Éditions Straße' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/p/ES');
    const { project } = await house.client(people.chloe.me.token).projects.get({ projectId: 'ES' });
    expect([project.name, project.description, project.visibility]).toEqual([
      'Éditions Straße',
      'What we print',
      'private',
    ]);
  });

  journey('says that a key is taken, by a project that one may not see too, and keeps the rest', async () => {
    const [ana, chloe] = [house.client(people.ana.me.token), house.client(people.chloe.me.token)];
    await ana.projects.create({ key: 'WS', name: 'Web shop' });
    await ana.projects.create({ key: 'HIDE', name: 'Hidden', visibility: 'private' });
    const page = await open(people.chloe.me.token, '/new-project');
    await page.getByRole('link', { name: 'Web shop' }).waitFor();
    await page.getByLabel('Name').fill('Web shop');
    const key = page.getByLabel('Key', { exact: true });
    expect(await key.inputValue()).toBe('WEB');
    await key.fill('WS');
    await page.getByRole('alert').getByText('Another project has the key WS').waitFor();
    await key.fill('HIDE');
    const make = page.getByRole('button', { name: 'Make the project' });
    await make.click();
    await page.getByRole('alert').getByText('Another project has the key HIDE').waitFor();
    await page.locator(':focus').and(key).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Web shop');
    expect((await chloe.projects.list({})).items.map((one) => one.key)).toEqual(['WS']);
    await key.fill('SHOP');
    await make.click();
    await page.waitForURL(/\/p\/SHOP$/);
  });

  journey('says why a project could not be made, and keeps what was written', async () => {
    const { chloe } = await house.world.org({ plan: 'free' });
    const { projects } = house.client(chloe.me.token);
    await Promise.all(['A1', 'A2', 'A3', 'A4', 'A5'].map((key) => projects.create({ key, name: key })));
    const page = await open(chloe.me.token, '/new-project');
    await page.getByLabel('Name').fill('Web shop');
    await page.getByRole('button', { name: 'Make the project' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'The project could not be made' });
    await alert.getByText(/limit|plan/i).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Web shop');
    expect((await projects.list({})).items).toHaveLength(5);
  });

  journey('offers no new project to those who may make none', async () => {
    const viewer = people.dan.me.token;
    const page = await open(viewer, '/new-project');
    await page.getByRole('heading', { name: 'You may not see this' }).waitFor();
    expect(await page.getByRole('link', { name: 'New project' }).count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('new pro');
    await page.getByText('Nothing fits.').waitFor();
  });
}

/** Tests the creation of projects and delivery groups, from all places that offer it. */
import { beforeEach, expect } from '@jest/globals';
import { type People, waitUntil } from '@muster/testing';
import { journey } from './browser.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function projectsJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
  });

  journey('makes a project by keys, with a key from its name, and opens its board', async () => {
    const page = await open(people.chloe.me.token, '/stories');
    await page.getByRole('link', { name: 'New project' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('new pro');
    await page.getByRole('option', { name: 'New project' }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator(':focus').and(page.getByLabel('Name')).waitFor();
    await page.keyboard.type('Éditions Straße');
    const key = page.getByLabel('Key', { exact: true });
    expect(await key.inputValue()).toBe('ES');
    await page.getByText('Stories will be named ES-1').waitFor();
    await key.fill('shop9');
    expect(await key.inputValue()).toBe('SHOP9');
    // An emptied key field follows the name again.
    await key.fill('');
    expect(await key.inputValue()).toBe('ES');
    await page.getByLabel('Description').fill('What we print');
    await page.getByLabel('Visibility').selectOption('private');
    await page.getByLabel('Description').press('Tab');
    await page.getByRole('button', { name: 'Create project' }).press('Enter');
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
    await page.getByText('WS has the same name').waitFor();
    await key.fill('WS');
    await page.getByRole('alert').getByText('Another project has the key WS').waitFor();
    await key.fill('HIDE');
    const make = page.getByRole('button', { name: 'Create project' });
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
    await page.getByRole('button', { name: 'Create project' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'The project could not be created' });
    await alert.getByText(/limit|plan/i).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Web shop');
    expect((await projects.list({})).items).toHaveLength(5);
  });

  journey('offers no new project to those who may make none', async () => {
    const viewer = people.dan.me.token;
    const page = await open(viewer, '/new-project');
    await page.getByRole('heading', { name: 'You don’t have access to this' }).waitFor();
    expect(await page.getByRole('link', { name: 'New project' }).count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to' }).fill('new pro');
    await page.getByText('No results.').waitFor();
  });

  journey('makes a delivery group, changes what is in it, and ends it', async () => {
    await arrange(house, people, { backlog: ['Alpha', 'Beta'], ready: ['Gamma'], in_progress: [] });
    const { deliveryGroups, stories } = house.client(people.chloe.me.token);
    const group = async () => (await deliveryGroups.list({ projectId: 'WEB' })).items[0];
    const keys = async (): Promise<string[]> => {
      const { items } = await stories.list({ projectId: 'WEB' });
      return ((await group())?.storyIds ?? []).map((id) => items.find((one) => one.id === id)?.key ?? '');
    };
    const page = await open(people.chloe.me.token, '/p/WEB/epics');
    await page.getByRole('button', { name: 'New delivery group' }).click();
    await page.getByLabel('Group name').fill('Passkeys');
    const add = page.getByRole('combobox', { name: 'Add a story' });
    const make = page.getByRole('button', { name: 'New delivery group' });
    expect(await make.isDisabled()).toBe(true);
    await add.fill('WEB-99');
    await add.press('Enter');
    await page.getByRole('alert').getByText('No story in this project matches “WEB-99”').waitFor();
    for (const key of ['web-1', 'WEB-2']) {
      await add.fill(key);
      await add.press('Enter');
      await page.getByRole('button', { name: `Remove ${key.toUpperCase()}` }).waitFor();
    }
    await page.getByRole('button', { name: 'Move WEB-2 up' }).click();
    await make.click();
    const row = page.getByRole('listitem').filter({ hasText: 'Passkeys' });
    await row.getByText('0 of 2 done').first().waitFor();
    expect(await keys()).toEqual(['WEB-2', 'WEB-1']);
    // Someone else renames the group while a story is removed: both changes are kept.
    await row.getByRole('button', { name: 'Edit Passkeys' }).click();
    await page.getByRole('button', { name: 'Remove WEB-2' }).click();
    await house
      .client(people.ben.me.token)
      .deliveryGroups.update({ groupId: (await group())?.id ?? '', name: 'Keys' });
    await waitUntil(async () => (await page.getByLabel('Group name').inputValue()) === 'Keys');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Edit Keys' }).waitFor();
    expect(await keys()).toEqual(['WEB-1']);
    const state = page.getByLabel('State of Keys');
    for (const to of ['active', 'in review']) {
      await state.selectOption(to);
      await page.locator('.row-fact .state', { hasText: to }).waitFor();
    }
    await page.getByRole('button', { name: 'Abandon Keys' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Abandon' }).click();
    await page.locator('.row-fact .state', { hasText: 'abandoned' }).waitFor();
    expect(await page.getByRole('button', { name: 'Edit Keys' }).count()).toBe(0);
    const theirs = await open(people.dan.me.token, '/p/WEB/epics');
    await theirs.getByText('Keys').waitFor();
    expect(await theirs.getByRole('button', { name: 'New delivery group' }).count()).toBe(0);
  });
}

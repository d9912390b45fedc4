/** Settings, as an owner and a colleague change them at once. */
import { beforeEach, expect } from '@jest/globals';
import { type People, until } from '@muster/testing';
import { journey } from './browser.ts';
import { arrange, useHouse } from './house.ts';
import { useWindows } from './windows.ts';

const house = useHouse();
let people: People;
const { open } = useWindows(house);
beforeEach(async () => {
  people = await house.world.org();
  await arrange(house, people, { backlog: ['Alpha'], ready: [], in_progress: [] });
});

journey('invites a colleague, which another admin sees at once and takes back', async () => {
  const [mine, theirs] = [
    await open(people.ana.me.token, '/settings/members'),
    await open(people.ben.me.token, '/settings/members'),
  ];
  await mine.getByRole('button', { name: 'Invite a colleague' }).click();
  await mine.getByLabel('E-mail address').fill('noor@example.com');
  await mine.getByLabel('Role', { exact: true }).selectOption('viewer');
  await mine.getByRole('button', { name: 'Send the invitation' }).click();
  await mine.locator('.notice', { hasText: 'noor@example.com is invited' }).waitFor();
  await theirs.getByRole('button', { name: 'Take back noor@example.com' }).click();
  await mine.getByRole('heading', { name: 'Invitations' }).waitFor({ state: 'detached' });
  const { items } = await house.client(people.ana.me.token).invitations.list();
  expect(items.map(({ email, role, state }) => [email, role, state])).toEqual([
    ['noor@example.com', 'viewer', 'revoked'],
  ]);
});

journey('offers no one more than they may', async () => {
  const page = await open(people.chloe.me.token, '/settings/members');
  await page.getByText('Ana', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: /Invite|Remove/ }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Seats' }).count()).toBe(0);
  await house.go(page, '/settings/policy');
  await page.getByText('Admins change the policy.').waitFor();
  expect(await page.getByLabel('Agents may review').isDisabled()).toBe(true);
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
});

journey('changes a rule and the number of seats, and says first what the seats cost', async () => {
  const ana = house.client(people.ana.me.token);
  const page = await open(people.ana.me.token, '/settings/policy');
  await page.getByLabel('Approvals before a story may be done').fill('2');
  await page.getByLabel('Limits of columns').selectOption('block');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.notice', { hasText: 'Saved' }).waitFor();
  expect((await ana.policy.get()).policy).toMatchObject({ requiredApprovals: 2, wipLimits: 'block' });
  await page.getByRole('link', { name: 'Seats' }).click();
  await page.getByRole('spinbutton', { name: 'Seats' }).fill('30');
  await page.getByRole('button', { name: 'Show what it costs' }).click();
  await page.getByText(/^Charge for 30 seats/).waitFor();
  expect((await ana.billing.seatUsage()).usage.purchased).toBe(25);
  await page.getByRole('button', { name: 'Change now' }).click();
  await until(async () => (await ana.billing.seatUsage()).usage.purchased === 30);
});

journey('changes the columns of a board, which an open board shows', async () => {
  const [settings, board] = [
    await open(people.ana.me.token, '/p/WEB/settings/columns'),
    await open(people.ben.me.token, '/p/WEB'),
  ];
  await settings.getByRole('textbox', { name: 'Name: Ready' }).fill('Up next');
  await settings.getByRole('spinbutton', { name: 'Limit: Ready' }).fill('3');
  await settings.getByRole('button', { name: 'Save Ready' }).click();
  await board.getByRole('region', { name: 'Up next', exact: true }).getByText('0 of 3').waitFor();
  await settings.getByRole('button', { name: 'Move Up next to the right' }).click();
  const order = ['Backlog', 'In progress', 'Up next', 'In review', 'Done'];
  await until(async () => {
    const names = await board.locator('.column h2').allTextContents();
    return order.every((name, at) => names[at]?.startsWith(name) === true);
  });
});

/** A story as people read it: what changed word by word, what was said, who works on it and can be asked to stop. */
import { afterEach, beforeEach, expect } from '@jest/globals';
import { type Page } from 'playwright-core';
import { type People, until } from '@muster/testing';
import { journey } from './browser.ts';
import { arrange, useHouse, type Window } from './house.ts';

const house = useHouse();
let people: People;
const windows: Window[] = [];
const open = async (token: string, address: string): Promise<Page> => {
  const window = await house.open(token, address);
  windows.push(window);
  return window.page;
};
beforeEach(async () => {
  people = await house.world.org();
  await arrange(house, people, { backlog: ['Alpha'], ready: [], in_progress: [] });
});
afterEach(async () => {
  const all = windows.splice(0);
  expect(all.flatMap(({ faults }) => faults)).toEqual([]);
  await Promise.all(all.map((window) => window.close()));
});
const storyId = 'WEB-1';

journey('shows word by word what changed between two versions, and brings an old one back', async () => {
  const chloe = house.client(people.chloe.me.token);
  await chloe.storySpec.update({ storyId, content: 'Guests pay by card.\n' });
  await chloe.storySpec.update({ storyId, content: 'Guests pay by invoice.\n' });
  const page = await open(people.ana.me.token, `/s/${storyId}`);
  await page.getByRole('button', { name: 'What changed last' }).click();
  await page.locator('del', { hasText: 'card' }).waitFor();
  await page.locator('ins', { hasText: 'invoice' }).waitFor();
  await page.waitForURL(/from=1&to=2/);
  await page.getByRole('button', { name: 'Restore version 1' }).click();
  await page.locator('.prose', { hasText: 'Guests pay by card.' }).waitFor();
  expect((await chloe.storySpec.get({ storyId })).spec).toMatchObject({
    version: 3,
    content: 'Guests pay by card.\n',
  });
});

journey('shows what others write as they meant it, and runs nothing of it', async () => {
  const chloe = house.client(people.chloe.me.token);
  const content = [
    ...['# Hello', '<img src=x onerror="document.title=1">', '<script>document.title = 1</script>'],
    ...['[bad](javascript:document.title=1)', '![a picture](https://example.com/p.png)', '**bold**'],
    ...['<form action=//example.com><input name=q></form>', '<b style="position:fixed" id=root>deep</b>'],
  ].join('\n\n');
  await chloe.storySpec.update({ storyId, content });
  const page = await open(people.ana.me.token, `/s/${storyId}`);
  const prose = page.locator('.prose');
  await prose.locator('strong', { hasText: 'bold' }).waitFor();
  expect(await prose.locator('img, script, form, input, [style], [id], [onerror]').count()).toBe(0);
  expect(await prose.locator('a', { hasText: 'bad' }).getAttribute('href')).toBeNull();
  const picture = prose.locator('a', { hasText: 'a picture' });
  expect([await picture.getAttribute('href'), await picture.getAttribute('rel')]).toEqual([
    ...['https://example.com/p.png', 'noopener noreferrer nofollow'],
  ]);
  // Text becomes elements by one way alone: the page itself has no other.
  expect(
    await page.evaluate(
      `(() => { try { document.body.innerHTML = '<b>x</b>'; return 'let'; } catch { return 'refused'; } })()`,
    ),
  ).toBe('refused');
  // What the policy refused are the only faults that this page has.
  const [window] = windows.splice(0);
  expect(window?.faults.filter((fault) => !/TrustedHTML|Content Security Policy/.test(fault))).toEqual([]);
  await window?.close();
});

journey('carries a talk on from one window to the other', async () => {
  const [mine, theirs] = [
    await open(people.ana.me.token, `/s/${storyId}`),
    await open(people.ben.me.token, `/s/${storyId}`),
  ];
  await mine.getByRole('textbox', { name: 'Comment' }).fill('Do we keep the card?');
  await mine.getByRole('button', { name: 'Comment' }).click();
  await theirs.getByText('Do we keep the card?').waitFor();
  await theirs.getByRole('textbox', { name: /^Reply to/ }).fill('For a year.');
  await theirs.getByRole('button', { name: 'Reply' }).click();
  await mine.getByText('For a year.').waitFor();
  await mine.getByRole('button', { name: 'Resolve' }).click();
  await theirs.getByText(/^Resolved by/).waitFor();
});

journey('shows who holds the work, from which checkpoint, and asks them to stop', async () => {
  const robo = house.client(people.robo.me.token);
  const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: storyId, runId: 'run-1' },
  });
  const page = await open(people.ana.me.token, `/s/${storyId}`);
  await page.getByText('at work').first().waitFor();
  await robo.deliveryExecutions.checkpoint({
    ...{ executionId: execution.id, leaseToken, summary: 'The form is there', nextSteps: ['Check it'] },
  });
  await page.getByText('The form is there').waitFor();
  await page.getByText('Check it').waitFor();
  await page.getByText('Another holder is at work on it').waitFor();
  await page.getByRole('button', { name: 'Ask to stop WEB-1' }).click();
  await page.getByText(/asked to stop/).waitFor();
  await until(async () => {
    const { signals } = await robo.deliveryExecutions.renew({ executionId: execution.id, leaseToken });
    return signals.some(({ kind }) => kind === 'stop_requested');
  });
});

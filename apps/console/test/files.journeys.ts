/** Tests attachments of stories, comments and executions, and images in comments. */
import { beforeEach, expect } from '@jest/globals';
import { type People, waitUntil } from '@muster/testing';
import { type Locator, type Page } from 'playwright-core';
import { fileTexts } from '../web/messages/files.ts';
import { t } from '../web/messages/index.ts';
import { commentTexts, editTexts } from '../web/messages/story.ts';
import { intercept, journey, textIn } from './browser.ts';
import { attachFile, junitReport, pictureOfColor } from './files.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

export function filesJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: [], ready: ['Say good night'], in_progress: [] });
  });

  const picture = pictureOfColor(40, 120, 110);

  /** Dispatches an event that carries a file, as a browser does on a paste or drop. */
  async function giveFile(place: Locator, type: 'paste' | 'drop', name: string): Promise<void> {
    await place.page().evaluate(`{
      const data = new DataTransfer();
      const bytes = Uint8Array.from(atob('${picture.toString('base64')}'), (letter) => letter.charCodeAt(0));
      data.items.add(new File([bytes], ${JSON.stringify(name)}, { type: 'image/png' }));
      const init = { bubbles: true, composed: true, cancelable: true, clipboardData: data, dataTransfer: data };
      globalThis.given = ${type === 'paste' ? "new ClipboardEvent('paste', init)" : "new DragEvent('drop', init)"};
    }`);
    await place.evaluate((element: { readonly dispatchEvent: (event: unknown) => void }) =>
      element.dispatchEvent((globalThis as { readonly given?: unknown }).given),
    );
  }
  const isLoaded = 'document.querySelector(".said .prose img")?.naturalWidth === 320';

  journey('attaches files by dialog and by dropping, sums up a report, and deletes a file', async () => {
    const page = await open(people.chloe.me.token, '/s/WEB-1');
    const files = page.getByRole('region', { name: 'Attachments' });
    await files.getByLabel('Attach as').selectOption('test_report');
    await files.locator('input[type=file]').setInputFiles({
      ...{ name: 'junit.xml', mimeType: 'application/xml', buffer: junitReport(['says good night']) },
    });
    await files.getByText('12 tests · 1 failed · 6s').waitFor();
    await files.getByText('Show 1 failed test').click();
    await files.getByText('says good night').waitFor();
    await files.getByLabel('Attach as').selectOption('file');
    await giveFile(page.locator('.file-drop'), 'drop', 'night.png');
    await files.getByRole('img', { name: 'Open night.png' }).waitFor();
    await waitUntil(() =>
      page.evaluate<boolean>('document.querySelector(".file-image img")?.naturalWidth === 320'),
    );
    const client = house.client(people.chloe.me.token);
    const { items } = await client.attachments.list({ targetType: 'story', targetId: 'WEB-1' });
    expect(items.map(({ name, kind }) => [name, kind])).toEqual([
      ['night.png', 'file'],
      ['junit.xml', 'test_report'],
    ]);
    await files.getByRole('button', { name: 'Delete junit.xml' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await files.getByRole('link', { name: 'junit.xml', exact: true }).waitFor({ state: 'detached' });

    // Viewers can read them, and neither add nor delete any.
    const reader = await open(people.dan.me.token, '/s/WEB-1');
    const shown = reader.getByRole('region', { name: 'Attachments' });
    await shown.getByRole('link', { name: 'night.png', exact: true }).waitFor();
    expect(await shown.getByRole('button', { name: /Attach|Delete/ }).count()).toBe(0);
  });

  journey('says what the API says if an upload is refused, and takes the same file again', async () => {
    const page = await open(people.chloe.me.token, '/s/WEB-1');
    const files = page.getByRole('region', { name: 'Attachments' });
    // A proxy that changes the bytes on their way.
    await page.route('**/files/**', (route) => route.continue({ postData: Buffer.from('other!') }), {
      times: 1,
    });
    const file = { name: 'log.txt', mimeType: 'text/plain', buffer: Buffer.from('hello!') };
    await files.locator('input[type=file]').setInputFiles(file);
    const notice = page.locator('.notice', { hasText: 'log.txt could not be attached' });
    await notice.getByText(/differs from the size or SHA-256/).waitFor();
    await files.locator('input[type=file]').setInputFiles(file);
    await files.getByRole('link', { name: 'log.txt', exact: true }).waitFor();
    await page.evaluate(`{
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(50 * 1024 ** 2 + 1)], 'huge.bin'));
      const init = { bubbles: true, cancelable: true, dataTransfer };
      document.querySelector('.file-drop').dispatchEvent(new DragEvent('drop', init));
    }`);
    await page.getByText('A file can have at most 50 MiB.', { exact: true }).waitFor();
  });

  journey('turns a pasted image into an attachment that the comment shows to everyone', async () => {
    const page = await open(people.chloe.me.token, '/s/WEB-1');
    const field = page.getByRole('textbox', { name: 'Comment' });
    await field.fill('It looks like this: ');
    // The full editor has replaced the plain field.
    await page.getByRole('toolbar', { name: 'Formatting' }).waitFor();
    await giveFile(field, 'paste', 'night.png');
    await waitUntil(async () => (await textIn(field)).includes('/console/files/'));
    expect(await textIn(field)).toMatch(/^It looks like this: !\[night\.png\]\(\/console\/files\/[\w-]+\)$/);
    await giveFile(field, 'drop', 'day.png');
    await waitUntil(async () => (await textIn(field)).includes(')![day.png](/console/files/'));
    await page.getByRole('button', { name: 'Comment' }).click();
    await waitUntil(() => page.evaluate<boolean>(isLoaded));

    const reader = await open(people.dan.me.token, '/inbox');
    const read: string[] = [];
    reader.on('request', (request) => void read.push(new URL(request.url()).pathname));
    await house.go(reader, '/s/WEB-1');
    await waitUntil(() => reader.evaluate<boolean>(isLoaded));
    // The list of the story's files has the addresses of the images.
    expect(read.filter((path) => path.endsWith('/attachments/get'))).toEqual([]);
    await reader.locator('.said .prose a').first().click();
    await reader.getByRole('heading', { name: 'night.png', level: 1 }).waitFor();
    await reader.getByRole('link', { name: 'Download' }).waitFor();
    await reader.getByRole('link', { name: 'Back to the story' }).click();
    await reader.getByRole('heading', { name: 'Say good night' }).waitFor();
  });

  /** Holds uploads until the returned function is called. */
  async function holdUpload(page: Page): Promise<() => void> {
    const held = Promise.withResolvers<undefined>();
    await intercept(page, '**/files/**', async (route) => {
      if (route.request().method() !== 'GET') await held.promise;
      await route.continue();
    });
    return () => held.resolve(undefined);
  }

  journey(
    'saves no text by keys before the links of its files are there, and revives none after',
    async () => {
      const chloe = house.client(people.chloe.me.token);
      const storyId = 'WEB-1';
      await chloe.storySpec.update({ storyId, content: 'Spec' });
      await chloe.stories.update({ storyId, description: 'Description' });
      await chloe.comments.create({ storyId, body: 'Remark' });
      const page = await open(people.chloe.me.token, `/s/${storyId}`);
      const editComment = async (): Promise<void> => {
        await page.getByRole('button', { name: commentTexts.actions('Chloé') }).click();
        await page.getByRole('menuitem', { name: commentTexts.edit }).click();
      };
      const places: readonly (readonly [string, () => Promise<void>])[] = [
        [editTexts.editor, () => page.getByRole('button', { name: editTexts.edit, exact: true }).click()],
        [editTexts.description, () => page.getByRole('button', { name: editTexts.editDescription }).click()],
        [commentTexts.editor, editComment],
      ];
      for (const [name, edit] of places) {
        const field = page.getByRole('textbox', { name, exact: true });
        const start = async (file: string): Promise<() => void> => {
          await edit();
          await page.getByRole('toolbar', { name: 'Formatting' }).waitFor();
          const uploadNow = await holdUpload(page);
          await giveFile(field, 'paste', file);
          await page.getByText(fileTexts.uploading(file)).waitFor();
          await field.press('Control+End');
          await page.keyboard.type(' at night');
          return uploadNow;
        };
        const finishSaved = await start('night.png');
        const submits = page.locator('form', { has: field }).locator('button[type=submit]');
        expect(await submits.isDisabled()).toBe(true);
        await field.press('Control+s');
        finishSaved();
        await waitUntil(async () => (await textIn(field)).includes('/console/files/'));
        await waitUntil(() => submits.isEnabled());
        await field.press('Control+s');
        await field.waitFor({ state: 'detached' });

        const finishCanceled = await start(`${name}.png`);
        await page.getByRole('main').getByRole('button', { name: t.cancel, exact: true }).click();
        await page.getByRole('dialog').getByRole('button', { name: t.questions.discard.yes }).click();
        await field.waitFor({ state: 'detached' });
        finishCanceled();
        await page.locator('.notice', { hasText: fileTexts.uploaded(`${name}.png`) }).waitFor();
        expect(
          await page.evaluate('Object.keys(localStorage).filter((key) => key.includes("draft"))'),
        ).toEqual([]);
      }
      const texts = [
        (await chloe.storySpec.get({ storyId })).spec.content,
        (await chloe.stories.get({ storyId })).story.description,
        (await chloe.comments.list({ storyId })).items[0]?.body,
      ];
      for (const text of texts)
        expect(text).toMatch(/^\w+ at night!\[night\.png\]\(\/console\/files\/[\w-]+\)$/);
    },
  );

  journey('deletes a file on its own page, and leads back to the story', async () => {
    const chloe = house.client(people.chloe.me.token);
    const { id } = await attachFile(house, chloe, {
      ...{ targetType: 'story', targetId: 'WEB-1', name: 'night.png', kind: 'file' },
      ...{ contentType: 'image/png', content: picture },
    });
    const page = await open(people.chloe.me.token, `/files/${id}`);
    const missing: string[] = [];
    page.on('response', (response) => {
      if (response.status() === 404) missing.push(new URL(response.url()).pathname);
    });
    await page.getByRole('link', { name: 'Back to the story' }).waitFor();
    await page.getByRole('button', { name: 'Delete night.png' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Say good night' }).waitFor();
    expect(missing).toEqual([]);
    await house.go(page, `/files/${id}`);
    await waitUntil(async () => missing.length > 0);
    expect(await page.getByRole('heading', { name: 'night.png' }).count()).toBe(0);
  });

  journey('attaches a file to one’s own comment, and never loads an image from elsewhere', async () => {
    const dan = house.client(people.dan.me.token);
    const body = [
      '![x](https://evil.example/a.png)',
      '<img data-attachment="01936d5c-0000-7000-8000-000000000001" src="https://evil.example/b.png">',
      '![gone](/console/files/01936d5c-0000-7000-8000-000000000001)',
    ].join('\n\n');
    await dan.comments.create({ storyId: 'WEB-1', body });
    await house.client(people.ana.me.token).comments.create({ storyId: 'WEB-1', body: 'Why?' });
    const page = await open(people.dan.me.token, '/s/WEB-1');
    const own = page.locator('.said', { hasText: 'gone' });
    await own.getByRole('button', { name: 'Attach files to the comment by Dan' }).waitFor();
    await own.locator('input[type=file]').setInputFiles({
      ...{ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') },
    });
    await own.getByRole('link', { name: 'note.txt', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Attach files to the comment by Ana' }).count()).toBe(0);
    expect(await own.locator('.prose img').count()).toBe(0);
  });

  journey('marks evidence that is about earlier code', async () => {
    const robo = house.client(people.robo.me.token);
    const { execution, leaseToken } = await robo.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-1', runId: 'run-1', ttlSeconds: 3_600 },
    });
    const held = { executionId: execution.id, leaseToken };
    const setHead = (headSha: string) =>
      robo.deliveryExecutions.update({ ...held, git: { branch: 'work/web-1', headSha } });
    await setHead('a'.repeat(40));
    await attachFile(house, robo, {
      ...{ targetType: 'execution', targetId: execution.id, name: 'before.png', kind: 'screenshot' },
      ...{ contentType: 'image/png', content: picture },
    });
    await house.client(people.ana.me.token).storySpec.update({
      storyId: 'WEB-1',
      content: '- [ ] It is dark (evidence: screenshot)\n- [ ] It is tested (evidence: test report)',
    });
    await attachFile(house, robo, {
      ...{ targetType: 'story', targetId: 'WEB-1', name: 'newer.txt', kind: 'file' },
      ...{ contentType: 'text/plain', content: Buffer.from('hello') },
    });
    const page = await open(people.dan.me.token, '/inbox');
    // The evidence is on the second page of the list.
    await intercept(page, '**/api/attachments/list', (route) =>
      route.continue({ postData: { ...(route.request().postDataJSON() as object), limit: 1 } }),
    );
    await house.go(page, '/s/WEB-1');
    const files = page.getByRole('region', { name: 'Attachments' });
    await files.getByText(/of a run$/).waitFor();
    expect(await files.getByText('Outdated').count()).toBe(0);
    const criteria = page.getByRole('region', { name: 'Evidence for 1 of 2 acceptance criteria' });
    await criteria.getByText('It is dark(screenshot)Attached:before.png').waitFor();
    await criteria.getByText('It is tested(test report)Missing').waitFor();
    await setHead('b'.repeat(40));
    await files.getByText('Outdated').waitFor();
    await page
      .getByRole('region', { name: 'Evidence for 0 of 2 acceptance criteria' })
      .getByText('It is dark(screenshot)Outdated:before.png')
      .waitFor();
  });
}

/** Tests the changed files of work: the list, the patch of a file, comments on its lines, and the approved head. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeEach, expect } from '@jest/globals';
import { type People, waitUntil } from '@muster/testing';
import { type AxeResults } from 'axe-core';
import { type Page } from 'playwright-core';
import { journey } from './browser.ts';
import { attachFile } from './files.ts';
import { arrange, type House } from './house.ts';
import { useWindows } from './windows.ts';

const head = 'a'.repeat(40);
const diff = `diff --git a/src/night.ts b/src/night.ts
index 1..2 100644
--- a/src/night.ts
+++ b/src/night.ts
@@ -1,2 +1,3 @@ export
 const name = 'night';
-say('<b>old</b>');
+say('<img src=x onerror=alert(1)>');
+say(name);
diff --git a/src/day.ts b/src/evening.ts
similarity index 100%
rename from src/day.ts
rename to src/evening.ts
diff --git a/pic.png b/pic.png
new file mode 100644
Binary files /dev/null and b/pic.png differ
`;

export function changesJourneys(house: House): void {
  let people: People;
  const { open } = useWindows(house);
  beforeEach(async () => {
    people = await house.world.org();
    await arrange(house, people, { backlog: [], ready: ['Say good night'], in_progress: [] });
  });

  /** Submits work with this head, whose diff the runner has uploaded. */
  const submit = async (): Promise<void> => {
    const chloe = house.client(people.chloe.me.token);
    const { execution, leaseToken } = await chloe.deliveryExecutions.acquire({
      ...{ targetType: 'story', targetId: 'WEB-1', start: true },
    });
    const held = { executionId: execution.id, leaseToken };
    await chloe.deliveryExecutions.update({ ...held, git: { branch: 'night', headSha: head } });
    await attachFile(house, chloe, {
      ...{ targetType: 'execution', targetId: execution.id, kind: 'diff', headSha: head },
      ...{ name: 'changes.diff', contentType: 'text/x-diff', content: Buffer.from(diff) },
    });
    await chloe.deliveryExecutions.complete({ ...held, outcome: 'submitted' });
  };

  const violationsOf = async (page: Page): Promise<unknown> => {
    await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
    const { violations } = await page.evaluate<AxeResults>(
      `axe.run(document.querySelector('[aria-labelledby=changes]'), { resultTypes: ['violations'] })`,
    );
    return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
  };

  journey('shows the files and their lines, and takes a comment on a line', async () => {
    await submit();
    const page = await open(people.ben.me.token, '/s/WEB-1');
    const changes = page.getByRole('region', { name: 'Changes', exact: true });
    await changes.getByText('3 files · 2 added, 1 deleted · Uploaded by the runner').waitFor();
    await changes.getByRole('button', { name: /src\/night\.ts/ }).press('Enter');
    const patch = page.getByRole('region', { name: 'Changes of src/night.ts' });
    // The code is text, whatever it contains.
    await patch.getByText("say('<img src=x onerror=alert(1)>');").waitFor();
    expect(await patch.locator('img').count()).toBe(0);
    await patch.locator('.hljs-keyword', { hasText: 'const' }).waitFor();
    await patch.getByRole('button', { name: 'Comment on line 3 of src/night.ts' }).click();
    await patch.getByRole('textbox').fill('Why twice?');
    await patch.getByRole('button', { name: 'Comment', exact: true }).click();
    await patch.getByRole('button', { name: '1 thread on line 3' }).waitFor();
    const { items } = await house.client(people.ana.me.token).comments.list({ storyId: 'WEB-1' });
    expect(items).toMatchObject([
      { codeAnchor: { path: 'src/night.ts', line: 3, side: 'new', headSha: head } },
    ]);
    await changes.getByRole('button', { name: /pic\.png/ }).click();
    await changes.getByText('Binary file.').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violationsOf(page)).toEqual([]);
    }
  });

  journey('says which head was approved', async () => {
    await submit();
    const ana = house.client(people.ana.me.token);
    await ana.reviewers.add({ storyId: 'WEB-1', memberId: people.ben.me.memberId });
    const page = await open(people.ben.me.token, '/s/WEB-1');
    const changes = page.getByRole('region', { name: 'Changes', exact: true });
    await changes.getByText('Head aaaaaaaa').waitFor();
    expect(await changes.getByText('Approved head').count()).toBe(0);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await changes.getByText('Approved head').waitFor();
    const pullRequest = { number: 7, url: 'https://github.com/acme/web/pull/7', state: 'open' } as const;
    await ana.stories.updateGitMeta({ storyId: 'WEB-1', git: { pullRequest, checks: 'pending' } });
    await changes.getByRole('link', { name: 'Pull request #7' }).waitFor();
    await ana.stories.updateGitMeta({ storyId: 'WEB-1', git: { checks: 'passing' } });
    const merge = changes.getByRole('link', { name: 'Merge on GitHub' });
    expect(await merge.getAttribute('href')).toBe(pullRequest.url);
    await page.getByRole('complementary').getByRole('link', { name: '#7' }).waitFor();
    await ana.stories.updateGitMeta({ storyId: 'WEB-1', git: { headSha: 'b'.repeat(40) } });
    await waitUntil(async () => (await changes.getByText('The head under review is bbbbbbbb').count()) === 1);
    await merge.waitFor({ state: 'detached' });
  });
}

/** The changed files of work: what a runner uploads, and which head is shown. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from '@muster/client';
import { maxPatchBytes } from '@muster/contract';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { useApi } from './api.ts';
import { createFilesFolder, storeFile } from './files.ts';

const folder = await createFilesFolder();
const api = useApi({ FILES_FOLDER: folder });
afterAll(() => rm(folder, { recursive: true, force: true }));

const headShas = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(40));
const [a = '', b = ''] = headShas;
const fileDiff = (name: string, added: string) =>
  `diff --git a/${name} b/${name}\nindex 1..2 100644\n--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-old\n+${added}\n`;

let people: People<AllHandlers>;
let ana: Client;
let chloe: Client;
let leaseCredentials: { executionId: string; leaseToken: string };
let storyId: string;

beforeEach(async () => {
  people = await api.world.org();
  [ana, chloe] = [api.client(people.ana.me.token), api.client(people.chloe.me.token)];
  await ana.projects.create({ key: 'WEB', name: 'Web' });
  const { story } = await ana.stories.create({ projectId: 'WEB', title: 'Sign in', status: 'in_progress' });
  storyId = story.id;
  const { execution, leaseToken } = await chloe.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: story.id },
  });
  leaseCredentials = { executionId: execution.id, leaseToken };
});

const reportHead = (headSha: string) =>
  chloe.deliveryExecutions.update({ ...leaseCredentials, git: { branch: 'topic', headSha } });
const upload = (client: Client, diff: string, headSha: string) =>
  storeFile(api, client, { targetType: 'execution', targetId: leaseCredentials.executionId }, diff, {
    ...{ name: 'changes.diff', kind: 'diff', headSha },
  });

describe('changes.diff', () => {
  it('says why there are none', async () => {
    const { story } = await ana.stories.create({ projectId: 'WEB', title: 'Not begun' });
    expect(await ana.changes.diff({ storyId: story.key })).toMatchObject({
      changes: { executionId: null, state: 'unavailable', problem: { code: 'no_head' }, headSha: null },
      items: [],
    });
    expect((await ana.changes.diff({ storyId })).changes.problem).toMatchObject({ code: 'no_head' });
    await reportHead(a);
    expect((await ana.changes.diff({ storyId })).changes).toMatchObject({
      ...{ executionId: leaseCredentials.executionId, state: 'unavailable', problem: { code: 'no_source' } },
      ...{ headSha: null, currentHeadSha: a, isCurrent: false },
    });
  });

  it('shows what the runner uploaded: the files by page, and the patch of one', async () => {
    await reportHead(a);
    const names = ['one.ts', 'two.ts', 'three.ts'];
    const attachment = await upload(chloe, names.map((name) => fileDiff(name, 'new')).join(''), a);
    const first = await api
      .client(people.dan.me.token)
      .changes.diff({ executionId: leaseCredentials.executionId, limit: 2 });
    expect(first).toMatchObject({
      changes: {
        ...{
          state: 'ready',
          source: 'runner',
          headSha: a,
          isCurrent: true,
          isApproved: false,
          problem: null,
        },
        ...{ fileCount: 3, additions: 3, deletions: 3, truncated: false, attachmentId: attachment.id },
      },
      items: [
        { path: 'one.ts', status: 'modified', additions: 1, deletions: 1, binary: false },
        { path: 'two.ts' },
      ],
      patch: null,
    });
    const { items: files, nextCursor } = await ana.changes.diff({
      storyId,
      limit: 2,
      cursor: first.nextCursor ?? '',
    });
    expect([files.map(({ path }) => path), nextCursor]).toEqual([['three.ts'], null]);
    expect(await ana.changes.diff({ storyId, path: 'two.ts' })).toMatchObject({
      items: [{ path: 'two.ts' }],
      patch: { path: 'two.ts', text: '@@ -1 +1 @@\n-old\n+new', truncated: false },
    });
    expect(await ana.changes.diff({ storyId, path: '../two.ts' })).toMatchObject({ items: [], patch: null });
  });

  it('says whether the head is the one under review, and whether it was approved', async () => {
    await reportHead(a);
    await upload(chloe, fileDiff('one.ts', 'first'), a);
    await chloe.deliveryExecutions.complete({ ...leaseCredentials, outcome: 'submitted' });
    await ana.reviewers.add({ storyId, memberId: people.ben.me.memberId });
    await api.client(people.ben.me.token).reviewers.setVerdict({ storyId, verdict: 'approved' });
    const { changes } = await ana.changes.diff({ storyId });
    expect(changes).toMatchObject({ headSha: a, isCurrent: true, isApproved: true, approvedHeadSha: a });

    await ana.stories.updateGitMeta({ storyId, git: { headSha: b } });
    expect((await ana.changes.diff({ storyId })).changes).toMatchObject({
      ...{ headSha: a, currentHeadSha: b, isCurrent: false, isApproved: true },
    });
    await upload(chloe, fileDiff('one.ts', 'second'), b);
    expect((await ana.changes.diff({ storyId })).changes).toMatchObject({
      ...{ headSha: b, isCurrent: true, isApproved: false, approvedHeadSha: a },
    });
    const before = await ana.changes.diff({ storyId, headSha: a.slice(0, 12), path: 'one.ts' });
    expect(before).toMatchObject({ changes: { headSha: a, isCurrent: false }, patch: { text: /first/ } });
  });

  it('never shows another diff of a head that was shown before', async () => {
    await reportHead(a);
    await upload(chloe, fileDiff('one.ts', 'reviewed'), a);
    const second = await upload(ana, fileDiff('one.ts', 'other'), a);
    const read = async () => (await ana.changes.diff({ storyId, path: 'one.ts' })).patch?.text;
    expect(await read()).toContain('+reviewed');
    await ana.attachments.delete({ attachmentId: second.id });
    expect(await read()).toContain('+reviewed');
  });

  it('is gone with its upload, and keeps ten heads', async () => {
    await reportHead(a);
    const attachment = await upload(chloe, fileDiff('one.ts', 'new'), a);
    await chloe.attachments.delete({ attachmentId: attachment.id });
    expect((await ana.changes.diff({ storyId })).changes.state).toBe('unavailable');
    for (let index = 0; index < 12; index += 1)
      await upload(chloe, fileDiff('one.ts', 'new'), index.toString(16).repeat(40));
    const rows = await api.world.rows('select from code_changes where org_id = $1', people.orgId);
    expect(rows).toHaveLength(10);
  });

  it('keeps the diff of the head under review, and those of the forge, whatever runners upload', async () => {
    await reportHead(a);
    for (const head of [a, b]) await upload(chloe, fileDiff('one.ts', 'verified'), head);
    await api.world.rows(`update code_changes set source = 'forge' where head_sha = $1`, b);
    for (let index = 0; index < 10; index += 1)
      await upload(chloe, fileDiff('one.ts', 'new'), index.toString(16).repeat(40));
    expect((await ana.changes.diff({ storyId })).changes).toMatchObject({ headSha: a, isCurrent: true });
    expect((await ana.changes.diff({ storyId, headSha: b })).changes).toMatchObject({ source: 'forge' });
  });

  it('cuts a large patch at a line, and says so', async () => {
    await reportHead(a);
    const lines = Array.from({ length: 30_000 }, (_, index) => `+${'é'.repeat(20)} ${index}`);
    const big = `diff --git a/big.ts b/big.ts\nnew file mode 100644\n--- /dev/null\n+++ b/big.ts\n@@ -0,0 +1,30000 @@\n${lines.join('\n')}\n`;
    await upload(chloe, big + fileDiff('small.ts', 'new'), a);
    const { items: files, patch } = await ana.changes.diff({ storyId, path: 'big.ts' });
    expect(files).toMatchObject([{ additions: 30_000, truncated: true }]);
    expect(patch?.truncated).toBe(true);
    expect(Buffer.byteLength(patch?.text ?? '')).toBeLessThanOrEqual(maxPatchBytes);
    expect(patch?.text.split('\n').at(-1)).toMatch(/^\+é{20} \d+$/);
    expect((await ana.changes.diff({ storyId, path: 'small.ts' })).patch?.truncated).toBe(false);
  });

  it('takes comments on its lines, which every reader finds', async () => {
    const anchor = { path: 'src/one.ts', line: 3, headSha: a };
    const { comment } = await chloe.comments.create({ storyId, body: 'Why twice?', codeAnchor: anchor });
    expect(comment.codeAnchor).toEqual({ ...anchor, side: 'new' });
    const { items } = await api.client(people.dan.me.token).comments.list({ storyId });
    expect(items).toMatchObject([{ anchor: null, codeAnchor: { ...anchor, side: 'new' } }]);
    for (const wrong of [{ line: 0 }, { side: 'left' }, { path: '' }, { headSha: 'zz' }])
      await expect(
        chloe.comments.create({ storyId, body: 'x', codeAnchor: { ...anchor, ...wrong } as typeof anchor }),
      ).rejects.toMatchObject({ status: 400 });
  });

  it('is not for members without access to the project', async () => {
    await reportHead(a);
    await upload(chloe, fileDiff('one.ts', 'new'), a);
    await ana.projects.update({ projectId: 'WEB', visibility: 'private' });
    await expect(api.client(people.dan.me.token).changes.diff({ storyId })).rejects.toMatchObject({
      status: 404,
    });
    const other = await api.world.org();
    const stranger = api
      .client(other.ana.me.token)
      .changes.diff({ executionId: leaseCredentials.executionId });
    await expect(stranger).rejects.toMatchObject({ status: 404 });
  });
});

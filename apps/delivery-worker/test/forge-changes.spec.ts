/** The changed files that the worker reads from each forge, against a server with their documented answers. */
import { describe, expect, it } from '@jest/globals';
import { type ForgeKind } from '@muster/contract';
import { pullEvent, shaOf } from '@muster/testing/github';
import { pullRequest, useForgeFixture } from './asked-forge.ts';
import { deliver } from './forge-deliveries.ts';
import { type ReceivedForgeCall, replyWith } from './forge-server.ts';

const forgeFixture = useForgeFixture();
const { now } = forgeFixture;
const [a, b] = [shaOf('a'), shaOf('b')];
const baseSha = shaOf('0');

const patch = '@@ -1 +1,2 @@\n-old\n+new\n+more';
const githubFiles = [
  {
    ...{ sha: baseSha, filename: 'src/a.ts', status: 'modified', additions: 2, deletions: 1, changes: 3 },
    ...{ blob_url: 'x', raw_url: 'x', contents_url: 'x', patch },
  },
  {
    ...{ filename: 'b.ts', previous_filename: 'old.ts', status: 'renamed', additions: 0, deletions: 0 },
    changes: 0,
  },
  { filename: 'pic.png', status: 'added', additions: 0, deletions: 0, changes: 0 },
  { filename: 'huge.json', status: 'modified', additions: 9_000, deletions: 1, changes: 9_001 },
];
const gitlabFile = {
  ...{ old_path: 'src/a.ts', new_path: 'src/a.ts', a_mode: '100644', b_mode: '100644' },
  ...{ new_file: false, renamed_file: false, deleted_file: false, generated_file: false },
  ...{ diff: `${patch}\n`, collapsed: false, too_large: false },
};
const gitlabFiles = [
  gitlabFile,
  { ...gitlabFile, old_path: 'old.ts', new_path: 'b.ts', renamed_file: true, diff: '' },
  {
    ...gitlabFile,
    new_path: 'pic.png',
    new_file: true,
    diff: 'Binary files /dev/null and b/pic.png differ\n',
  },
  { ...gitlabFile, new_path: 'huge.json', diff: '', too_large: true },
];
const giteaDiff = `diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
${patch}
diff --git a/old.ts b/b.ts
similarity index 100%
rename from old.ts
rename to b.ts
diff --git a/pic.png b/pic.png
new file mode 100644
Binary files /dev/null and b/pic.png differ
`;

const pullOf = (kind: ForgeKind, head: string) =>
  kind === 'gitlab'
    ? { iid: 7, sha: head, diff_refs: { base_sha: baseSha, head_sha: head, start_sha: baseSha } }
    : { number: 7, head: { sha: head }, base: { sha: shaOf('9') }, merge_base: baseSha };

/** Answers like a forge whose pull request has this head. The files come in two pages. */
const answerAs = (kind: ForgeKind, head: string) => {
  now.forge.answer(({ path }: ReceivedForgeCall, response) => {
    if (path.endsWith('.diff')) response.writeHead(200, { 'content-type': 'text/plain' }).end(giteaDiff);
    else if (/\/(files|diffs)\?/.test(path)) {
      const files = kind === 'gitlab' ? gitlabFiles : githubFiles;
      const isSecond = path.endsWith('&page=2');
      const link = isSecond ? {} : { link: `<${path}&page=2>; rel="next"` };
      replyWith(response, 200, isSecond ? files.slice(2) : files.slice(0, 2), link);
    } else replyWith(response, 200, pullOf(kind, head));
  });
};

/** Performs the jobs that ask for changed files. Their errors are returned. */
const readChanges = async (): Promise<string[]> => {
  const errors: string[] = [];
  for (const row of await now.jobs.listPendingChanges(now.people.orgId))
    await now.jobs.perform(now.people.orgId, row).catch((error: unknown) => {
      errors.push((error as Error).message);
    });
  return errors;
};
const diff = (path?: string) =>
  now.people.dan.changes.diff({ storyId: now.storyId, ...(path !== undefined && { path }) });

describe('the changed files of a pull request', () => {
  it.each<ForgeKind>(['github', 'gitlab', 'gitea', 'forgejo'])('are read from %s once', async (kind) => {
    await forgeFixture.begin(kind);
    expect((await diff()).changes).toMatchObject({ state: 'pending', problem: null, currentHeadSha: a });
    answerAs(kind, a);
    expect(await readChanges()).toEqual([]);
    const { changes, items: files } = await diff();
    const isWhole = kind === 'gitea' || kind === 'forgejo';
    expect(changes).toMatchObject({
      ...{ state: 'ready', source: 'forge', headSha: a, isCurrent: true, attachmentId: null },
      ...{ baseSha, fileCount: isWhole ? 3 : 4 },
    });
    expect(files.slice(0, 3)).toMatchObject([
      { path: 'src/a.ts', status: 'modified', additions: 2, deletions: 1, binary: false },
      { path: 'b.ts', oldPath: 'old.ts', status: 'renamed', binary: false },
      { path: 'pic.png', status: 'added', binary: true },
    ]);
    if (!isWhole) expect(files[3]).toMatchObject({ path: 'huge.json', truncated: true });
    expect((await diff('src/a.ts')).patch).toEqual({ path: 'src/a.ts', text: patch, truncated: false });

    const count = now.forge.asked.length;
    await forgeFixture.turn();
    expect(await now.jobs.listPendingChanges(now.people.orgId)).toEqual([]);
    expect(now.forge.asked.slice(count).filter(({ path }) => /files|diffs|\.diff/.test(path))).toEqual([]);
  });

  it('are of no head that was replaced while they were read', async () => {
    await forgeFixture.begin();
    answerAs('github', b);
    expect(await readChanges()).toEqual([]);
    expect((await diff()).changes.state).toBe('pending');
    await deliver(
      forgeFixture.world,
      now.people,
      now.connection,
      pullEvent(pullRequest, 'synchronize', b, 2),
    );
    await forgeFixture.settle();
    expect(await readChanges()).toEqual([]);
    expect((await diff()).changes).toMatchObject({ state: 'ready', headSha: b });
  });

  it('are compared with the base for a branch without a pull request', async () => {
    await forgeFixture.begin();
    await forgeFixture.world.rows('update forge_pulls set number = null where org_id = $1', now.people.orgId);
    now.forge.answer({ status: 200, json: { merge_base_commit: { sha: baseSha }, files: githubFiles } });
    await readChanges();
    expect(now.forge.asked.at(-1)?.path).toContain(`/compare/main...${a}`);
    expect((await diff()).changes).toMatchObject({ state: 'ready', baseSha, fileCount: 4 });
  });
});

describe('a forge that gives none', () => {
  it('is away: viewers see why, and the job is tried again', async () => {
    await forgeFixture.begin();
    now.forge.answer({ status: 502, json: { message: 'Bad gateway' } });
    expect(await readChanges()).toEqual([expect.stringContaining('answered 502')]);
    expect((await diff()).changes).toMatchObject({
      ...{ state: 'unavailable', headSha: a, source: null },
      problem: { code: 'forge_away', message: expect.stringContaining('answered 502: Bad gateway') },
    });
    answerAs('github', a);
    expect(await readChanges()).toEqual([]);
    expect((await diff()).changes).toMatchObject({ state: 'ready', problem: null });
  });

  it.each([
    ['refuses', { status: 404, json: { message: 'Not Found' } }, /answered 404: Not Found/],
    ['answers in another format', { status: 200, json: { files: 'many' } }, /unexpected format/],
  ])('%s: that is no failure of the connection', async (_, answer, message) => {
    await forgeFixture.begin();
    now.forge.answer(answer);
    expect(await readChanges()).toEqual([]);
    expect(await now.jobs.listPendingChanges(now.people.orgId)).toEqual([]);
    expect((await diff()).changes.problem).toEqual({
      ...{ code: 'forge_refused', message: expect.stringMatching(message) },
    });
    const { connection } = await now.people.ana.forges.get({ connectionId: now.connection.id });
    expect(connection.lastError).toBeNull();
  });

  it('limits its calls: they are made when it allows them', async () => {
    await forgeFixture.begin();
    now.forge.answer({ status: 429, headers: { 'retry-after': '1800' }, json: {} });
    expect(await readChanges()).toEqual([]);
    expect((await diff()).changes.problem).toMatchObject({ code: 'forge_away' });
    const [again] = await now.jobs.listPendingChanges(now.people.orgId);
    expect(again?.dueIn).toBeGreaterThan(1_700);
  });

  it('has no credentials: nothing is expected from it', async () => {
    await forgeFixture.begin('github', null);
    expect(await now.jobs.listPendingChanges(now.people.orgId)).toEqual([]);
    expect((await diff()).changes).toMatchObject({ state: 'unavailable', problem: { code: 'no_source' } });
  });
});

/** `muster attach`, and the evidence that a runner attaches before it submits. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { useMuster } from './muster.ts';
import { useRunner } from './runner.ts';
import { useStories } from './stories.ts';

const muster = useMuster();
const stories = useStories(muster);
const runner = useRunner(`
hooks:
  verify: mkdir -p out && echo '<testsuite tests="2"><testcase name="a"/><testcase name="b"/></testsuite>' > out/junit.xml
evidence:
  - out/**/*.xml
  - { files: '*.txt', kind: log }
`);
const report = '<testsuite tests="1"><testcase name="signs in"/></testsuite>';

const listAttachments = async (target: { targetType: 'story' | 'execution'; targetId: string }) =>
  (await stories.chloe.attachments.list({ ...target, limit: 50 })).items;

describe('muster attach', () => {
  it('attaches files with the kinds that their names show', async () => {
    const [key, folder] = [await stories.createStory(), await runner.folder()];
    await writeFile(path.join(folder, 'junit.xml'), report);
    await writeFile(path.join(folder, 'page.png'), 'not really a picture');
    const done = await muster.run(['attach', 'junit.xml', 'page.png', '--story', key, '--json'], {
      cwd: folder,
      env: muster.environmentOf(stories.people.chloe),
    });
    expect(done).toMatchObject({ code: 0, err: '' });
    expect(await listAttachments({ targetType: 'story', targetId: key })).toMatchObject([
      { name: 'page.png', kind: 'screenshot', contentType: 'image/png' },
      { name: 'junit.xml', kind: 'test_report', report: { tests: 1, failures: 0 } },
    ]);
  });

  it('says what is wrong, and attaches nothing', async () => {
    const [key, folder] = [await stories.createStory(), await runner.folder()];
    const run = (...args: string[]) =>
      muster.run(['attach', ...args], { cwd: folder, env: muster.environmentOf(stories.people.chloe) });
    await writeFile(path.join(folder, 'a.txt'), 'a');
    await mkdir(path.join(folder, 'b.txt'));
    for (const [args, problem] of [
      [['a.txt'], /name the target/],
      [['a.txt', '--story', key, '--run', 'x'], /only one of/],
      [['a.txt', 'b.txt', '--story', key], /b\.txt is not a regular file/],
      [['missing', '--story', key], /cannot be read/],
      [['a.txt', '--story', 'WEB-999'], /not_found, 404/],
    ] as const) {
      const { code, err } = await run(...args);
      expect([code === 0, err]).toEqual([false, expect.stringMatching(problem)]);
    }
    expect(await listAttachments({ targetType: 'story', targetId: key })).toEqual([]);
  });
});

describe('the evidence of a run', () => {
  const start = (
    clone: { folder: string; git(...args: string[]): Promise<string> },
    key: string,
    script: string,
  ) => runner.start(clone, [key, '--', 'sh', '-c', script], muster.environmentOf(stories.people.chloe));

  it('is attached to the execution with the head, before the work is submitted', async () => {
    const [key, clone, outside] = [await stories.createStory(), await runner.clone(), await runner.folder()];
    await writeFile(path.join(outside, 'secret.txt'), 'outside');
    const script = `echo good > answer.txt; touch ${outside}/secret.txt; ln -s ${outside}/secret.txt stolen.txt; muster attach answer.txt`;
    const working = start(clone, key, script);
    expect(await working.ended).toBe(0);
    await working.waitForEvent('warning', /stolen\.txt was not attached: .* outside of/);
    const { id: targetId = '', git, state } = (await stories.executionOf(key)) ?? {};
    expect(state).toBe('submitted');
    const found = await listAttachments({ targetType: 'execution', targetId });
    expect(found.map(({ name, kind, headSha }) => [name, kind, headSha === git?.headSha])).toEqual([
      ['answer.txt', 'log', true],
      ['junit.xml', 'test_report', true],
      ['changes.diff', 'diff', true],
      // The agent attached it before it was committed.
      ['answer.txt', 'file', false],
    ]);
    expect(found[1]).toMatchObject({ report: { tests: 2 }, stale: false });
    const diff = await fetch(found[2]?.downloadUrl ?? '');
    expect(await diff.text()).toContain('\n+good\n');
  });

  it('never costs the work: files of the storage cannot be written', async () => {
    const [key, clone] = [await stories.createStory(), await runner.clone()];
    // A file in place of the folder: each upload answers 503.
    await rm(path.join(muster.home(), 'files'), { recursive: true, force: true });
    await writeFile(path.join(muster.home(), 'files'), '');
    const working = start(clone, key, 'echo good > code.ts');
    await working.waitForEvent('warning', /the diff was not attached/);
    // The report is uploaded again until the storage is back.
    await rm(path.join(muster.home(), 'files'));
    await working.waitForEvent('evidence', /attached 1 file as evidence/);
    expect(await working.ended).toBe(0);
    const { id: targetId = '', state } = (await stories.executionOf(key)) ?? {};
    expect(state).toBe('submitted');
    expect(await listAttachments({ targetType: 'execution', targetId })).toMatchObject([
      { name: 'junit.xml' },
    ]);
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readTestReport } from './parse.ts';

const folder = await mkdtemp(join(tmpdir(), 'muster-reports-'));
afterAll(() => rm(folder, { recursive: true }));

async function read(content: string) {
  const path = join(folder, 'report');
  await writeFile(path, content);
  return readTestReport({ path, size: Buffer.byteLength(content), sha256: '' });
}

describe('JUnit XML', () => {
  it('is counted by its test cases', async () => {
    const report = await read(`\ufeff<?xml version="1.0" encoding="UTF-8"?>
      <testsuites tests="99"><testsuite name="a"><properties><property name="failure" value="x"/></properties>
        <testcase classname="sign in" name="works" time="0.25"/>
        <testcase classname="sign in" name="fails &amp; tells" time="1,000.5"><failure>no</failure></testcase>
        <testcase name="breaks"><error message="x"/><system-out>&lt;failure/&gt;</system-out></testcase>
        <testsuite name="b"><testcase name="later"><skipped/></testcase></testsuite>
      </testsuite></testsuites>`);
    expect(report).toEqual({
      ...{ tests: 4, failures: 1, errors: 1, skipped: 1, durationMs: 1_000_750 },
      failed: ['sign in › fails & tells', 'breaks'],
    });
  });

  it('names at most 50 failed tests', async () => {
    const cases = '<testcase name="x"><failure/></testcase>'.repeat(60);
    expect(await read(`<testsuite>${cases}</testsuite>`)).toMatchObject({
      failures: 60,
      failed: Array.from({ length: 50 }, () => 'x'),
    });
  });

  it.each([
    ['cut', '<testsuite><testcase name="a"/>'],
    ['with a document type', '<!DOCTYPE a [<!ENTITY b "c">]><testsuite/>'],
    ['with an unknown entity', '<testsuite><testcase name="&b;"/></testsuite>'],
    ['of other elements', '<html><testcase/></html>'],
    ['nested too deeply', `${'<testsuite>'.repeat(70)}${'</testsuite>'.repeat(70)}`],
    ['of more than 10 MiB', `<testsuite>${' '.repeat(11 * 1024 * 1024)}</testsuite>`],
  ])('%s has no counts', async (_case, content) => {
    expect(await read(content)).toBeNull();
  });
});

describe('TAP', () => {
  it('is counted by its tests', async () => {
    const report = await read(`TAP version 14
# Subtest: parent
    ok 1 - child
    not ok 2 - other child
    1..2
not ok 1 - parent
  ---
  message: &a [*a, *a]
  ...
ok 2 - works
ok 3 - later # SKIP slow
not ok 4 - planned # TODO
1..4
`);
    expect(report).toEqual({
      ...{ tests: 4, failures: 1, errors: 0, skipped: 2, durationMs: null },
      failed: ['parent'],
    });
  });

  it.each([
    ['without a plan', 'TAP version 13\nok 1 - a\n'],
    ['with missing tests', '1..3\nok 1\nok 2\n'],
    ['that bailed out', '1..2\nok 1\nBail out! no database\n'],
    ['that is other text', 'Hello\nworld\n'],
    ['of no valid UTF-8', '\ud800'],
    ['of one endless line', `ok 1 - ${'x'.repeat(200_000)}`],
    ['that is empty', ''],
  ])('%s has no counts', async (_case, content) => {
    expect(await read(content)).toBeNull();
  });
});

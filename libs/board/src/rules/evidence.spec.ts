import { describe, expect, it } from '@jest/globals';
import { applyReportedCode, noReportedCode, type TestReport } from '@muster/contract';
import { type Evidence, findFreshEvidence } from './evidence.ts';

const first = applyReportedCode(noReportedCode, { headSha: 'aaaa111' }, '2026-01-01T00:00:00.000Z');
const secondCode = applyReportedCode(first, { headSha: 'bbbb222' }, '2026-01-02T00:00:00.000Z');
const passedReport: TestReport = { tests: 1, failures: 0, errors: 0, skipped: 0, durationMs: 1, failed: [] };
const failed: TestReport = { ...passedReport, failures: 1, failed: ['a'] };
const evidence = (changes: Partial<Evidence>): Evidence => ({
  ...{ kind: 'test_report', name: 'junit.xml', report: passedReport },
  ...{ codeSeq: first.seq, headSha: 'aaaa111' },
  ...changes,
});
const kindsOf = (code: typeof first, ...items: Evidence[]) => [...findFreshEvidence(items, code)];

describe('evidence', () => {
  it('counts until the head moves', () => {
    expect(kindsOf(first, evidence({}), evidence({ kind: 'screenshot' }))).toEqual([
      'test_report',
      'screenshot',
    ]);
    expect(kindsOf(secondCode, evidence({}))).toEqual([]);
  });

  it('that came before its head was reported counts for that head', () => {
    const early = evidence({ codeSeq: null, headSha: 'bbbb222' });
    expect(kindsOf(first, early)).toEqual([]);
    expect(kindsOf(secondCode, early)).toEqual(['test_report']);
  });

  it('of a rebase with the same changes still counts', () => {
    const known = applyReportedCode(first, { diffHash: 'd' }, '2026-01-01T00:00:00.000Z');
    const rebased = applyReportedCode(
      known,
      { headSha: 'cccc333', diffHash: 'd' },
      '2026-01-03T00:00:00.000Z',
    );
    expect(kindsOf(rebased, evidence({ codeSeq: known.seq }))).toEqual(['test_report']);
  });

  it.each([
    ['failures', failed],
    ['errors', { ...passedReport, errors: 1 }],
    ['no tests', { ...passedReport, tests: 0 }],
    ['no counts', null],
  ])('with %s in a test report does not count', (_case, report) => {
    expect(kindsOf(first, evidence({ report }))).toEqual([]);
  });

  it('is replaced by a later file of the same name, and not by one of another name', () => {
    const [bad, good] = [evidence({ report: failed }), evidence({})];
    expect(kindsOf(first, bad, good)).toEqual(['test_report']);
    expect(kindsOf(first, good, bad)).toEqual([]);
    expect(kindsOf(first, evidence({ name: 'e2e.xml', report: failed }), good)).toEqual([]);
  });
});

import { expect, it } from '@jest/globals';
import { type Attachment } from '@muster/contract';
import { findEvidence, parseCriteria } from './criteria.ts';

it('finds task-list items that name evidence, and no code', () => {
  const spec = [
    '- [ ] Loads in 2 s (evidence: screenshot)',
    '  1. [x] Tests pass (Evidence: test report)',
    '- [ ] No evidence named',
    '- No box (evidence: log)',
    '```',
    '- [ ] In code (evidence: log)',
    '```',
    '* [X] Plays (evidence: night.webm) ',
  ].join('\n');
  expect(parseCriteria(spec)).toEqual([
    { text: 'Loads in 2 s', evidence: 'screenshot' },
    { text: 'Tests pass', evidence: 'test report' },
    { text: 'Plays', evidence: 'night.webm' },
  ]);
});

it('ends a code block only at a fence of the same character that is as long', () => {
  const item = (name: string) => `- [ ] ${name} (evidence: log)`;
  const spec = [
    ...['````md', '```', item('a'), '```', '~~~~', '```` not the end', item('b'), '`````', item('c')],
    ...['~~~', '```', item('d'), '~~~ ', item('e'), '``` inline ```', item('f')],
  ].join('\n');
  expect(parseCriteria(spec).map(({ text }) => text)).toEqual(['c', 'e', 'f']);
});

it('prefers fresh evidence, and accepts no failed report', () => {
  const fileOf = (name: string, kind: Attachment['kind'], more: Partial<Attachment> = {}) =>
    ({ name, kind, stale: false, report: null, ...more }) as Attachment;
  const counts = { tests: 1, errors: 0, skipped: 0, durationMs: null, failed: [] };
  const files = [
    fileOf('new.png', 'screenshot', { stale: true }),
    fileOf('old.png', 'screenshot'),
    fileOf('failed.xml', 'test_report', { report: { ...counts, failures: 1 } }),
    fileOf('unreadable.xml', 'test_report'),
    fileOf('Night.webm', 'video', { stale: true }),
  ];
  const find = (evidence: string) => {
    const { state, file } = findEvidence({ text: '', evidence }, files);
    return [state, file?.name];
  };
  expect(find('Screenshot')).toEqual(['fresh', 'old.png']);
  expect(find('test report')).toEqual(['missing', undefined]);
  expect(find('night.webm')).toEqual(['stale', 'Night.webm']);
  files.push(fileOf('passed.xml', 'test_report', { report: { ...counts, failures: 0 } }));
  expect(find('test_report')).toEqual(['fresh', 'passed.xml']);
});

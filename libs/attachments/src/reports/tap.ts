/**
 * Reads TAP. Indented lines are left out, because they contain only subtests, which their parent test sums up, and
 * YAML, which may be hostile.
 */
import { type FinalResults, Parser } from 'tap-parser';
import { addFailedName, newReport, type ReportReader } from './report.ts';

/** A line without an end, longer than any test point. */
const maxLineLength = 64 * 1024;

export function createTapReader(): ReportReader {
  const report = newReport();
  const parser = new Parser();
  let isInvalid = false;
  parser.on('assert', ({ ok, name, id, skip, todo }) => {
    report.tests += 1;
    if (skip || todo) report.skipped += 1;
    else if (!ok) {
      report.failures += 1;
      addFailedName(report, typeof name === 'string' && name !== '' ? name : `test ${String(id)}`);
    }
  });
  parser.on('bailout', () => {
    isInvalid = true;
  });
  parser.on('complete', ({ failures }: FinalResults) => {
    // A missing or wrong plan means that tests are missing. Other text counts as a plan of no tests.
    if (report.tests === 0 || failures.some((failure) => (failure.tapError ?? '') !== '')) isInvalid = true;
  });
  let rest = '';
  const passLine = (line: string): void => {
    if (!/^\s/.test(line)) parser.write(`${line}\n`);
  };
  return {
    write: (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > maxLineLength) throw new Error('a line of the report is too long');
      lines.forEach(passLine);
    },
    end: () => {
      passLine(rest);
      parser.end();
      if (isInvalid) throw new Error('the report is not complete');
      return report;
    },
  };
}

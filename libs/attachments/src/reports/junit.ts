/**
 * Reads JUnit XML. The parser expands no entities except the five of XML itself, and a document type is refused.
 */
import { SaxesParser } from 'saxes';
import { addFailedName, newReport, type ReportReader } from './report.ts';

const maxDepth = 64;

interface OpenTestCase {
  readonly name: string;
  readonly depth: number;
  outcome: 'passed' | 'failure' | 'error' | 'skipped';
}

const outcomeByElement: Readonly<Record<string, OpenTestCase['outcome'] | undefined>> = {
  failure: 'failure',
  error: 'error',
  skipped: 'skipped',
};

/** Returns a duration in milliseconds. Some tools write a thousands separator. */
function durationOf(time: string | undefined): number {
  const seconds = Number((time ?? '').replaceAll(',', ''));
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 0;
}

export function createJunitReader(): ReportReader {
  const report = newReport();
  let depth = 0;
  let testCase: OpenTestCase | undefined;
  let durationMs = 0;
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('doctype', () => {
    throw new Error('a report has no document type');
  });
  parser.on('opentag', ({ name, attributes }) => {
    depth += 1;
    if (depth > maxDepth) throw new Error('the report is nested too deeply');
    if (depth === 1 && name !== 'testsuites' && name !== 'testsuite')
      throw new Error(`${name} is no element of JUnit`);
    const outcome = outcomeByElement[name];
    if (name === 'testcase' && testCase === undefined) {
      const { classname: suite, name: test = '', time } = attributes as Record<string, string | undefined>;
      testCase = { name: suite ? `${suite} › ${test}` : test, depth, outcome: 'passed' };
      report.tests += 1;
      durationMs += durationOf(time);
    } else if (testCase !== undefined && depth === testCase.depth + 1 && outcome !== undefined) {
      testCase.outcome = outcome;
    }
  });
  parser.on('closetag', () => {
    if (testCase?.depth === depth) {
      const { outcome, name } = testCase;
      if (outcome === 'failure') report.failures += 1;
      if (outcome === 'error') report.errors += 1;
      if (outcome === 'skipped') report.skipped += 1;
      if (outcome === 'failure' || outcome === 'error') addFailedName(report, name);
      testCase = undefined;
    }
    depth -= 1;
  });
  return {
    write: (text) => {
      parser.write(text);
    },
    end: () => {
      parser.close();
      return { ...report, durationMs: Math.round(durationMs) };
    },
  };
}

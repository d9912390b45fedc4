/** The results of tests while a report is read. */
import { maxFailedTestsNamed, type TestReport } from '@muster/contract';

/** Longer names are cut, in UTF-16 code units. */
const maxNameLength = 200;

export interface ReportDraft {
  tests: number;
  failures: number;
  errors: number;
  skipped: number;
  durationMs: number | null;
  readonly failed: string[];
}

export const newReport = (): ReportDraft => ({
  ...{ tests: 0, failures: 0, errors: 0, skipped: 0, durationMs: null },
  failed: [],
});

/** Adds the name of a failed test, in a form that the database can store. */
export function addFailedName({ failed }: ReportDraft, name: string): void {
  if (failed.length < maxFailedTestsNamed)
    failed.push(name.replaceAll('\0', '').trim().slice(0, maxNameLength).toWellFormed() || 'unnamed');
}

/** Reads a report piece by piece. Each method throws if the report is not valid. */
export interface ReportReader {
  readonly write: (text: string) => void;
  readonly end: () => TestReport;
}

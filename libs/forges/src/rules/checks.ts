/**
 * The combined result of a commit's checks. Only the newest report of each check counts, and all must have
 * passed.
 */
import { type Trust } from '@muster/contract';
import { filterEffectiveReports } from './check-names.ts';
import { type CommitCheck } from './fact.ts';

export type TrustedCheckReport = Pick<CommitCheck, 'name' | 'state' | 'at'> & { readonly trust: Trust };

export interface ChecksVerdict {
  readonly kind: 'checks_passed' | 'checks_failed';
  /** The time of the newest report. */
  readonly at: string;
  /** The number of reports. If two results have the same time, the one with more reports is newer. */
  readonly reportCount: number;
  readonly trust: Trust;
}

/**
 * The precedence of reports with the same time: a completed check before a pending one, and failed before
 * passed.
 */
const stateWeights = { pending: 0, passed: 1, failed: 2 } as const;

const isNewer = (left: TrustedCheckReport, right: TrustedCheckReport): boolean =>
  left.at === right.at ? stateWeights[left.state] > stateWeights[right.state] : left.at > right.at;

/**
 * Combines the reports. Returns undefined while none failed and some are pending. The order of the reports
 * does not matter.
 */
export function combineCheckReports(checkReports: readonly TrustedCheckReport[]): ChecksVerdict | undefined {
  const newest = new Map<string, TrustedCheckReport>();
  for (const word of checkReports) {
    const known = newest.get(word.name);
    if (known === undefined || isNewer(word, known)) newest.set(word.name, word);
  }
  const states = filterEffectiveReports([...newest.values()]).map(({ state }) => state);
  const hasFailed = states.includes('failed');
  if (states.length === 0 || (!hasFailed && states.includes('pending'))) return undefined;
  return {
    kind: hasFailed ? 'checks_failed' : 'checks_passed',
    at: checkReports.map(({ at }) => at).reduce((a, b) => (a > b ? a : b)),
    reportCount: checkReports.length,
    trust: checkReports.every(({ trust }) => trust === 'verified') ? 'verified' : 'reported',
  };
}

/** Decides which evidence counts for a move to done. */
import {
  type AttachmentKind,
  type CodeUnderReview,
  type EvidenceCode,
  isEvidenceStale,
  type TestReport,
} from '@muster/contract';

export interface Evidence extends EvidenceCode {
  readonly kind: AttachmentKind;
  readonly name: string;
  readonly report: TestReport | null;
}

const isPassed = (report: TestReport | null): boolean =>
  report !== null && report.tests > 0 && report.failures === 0 && report.errors === 0;

/**
 * Returns the kinds of fresh evidence. A later file replaces one of the same kind and name. The kind test_report
 * counts only if all its current reports passed, so that a passed report cannot hide a failed one.
 */
export function findFreshEvidence(
  oldestFirst: readonly Evidence[],
  code: CodeUnderReview | null,
): ReadonlySet<AttachmentKind> {
  const fresh = oldestFirst.filter((evidence) => !isEvidenceStale(evidence, code));
  const current = new Map(fresh.map((evidence) => [`${evidence.kind} ${evidence.name}`, evidence]));
  const kinds = new Set([...current.values()].map(({ kind }) => kind));
  for (const { kind, report } of current.values())
    if (kind === 'test_report' && !isPassed(report)) kinds.delete(kind);
  return kinds;
}

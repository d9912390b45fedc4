/** Acceptance criteria: task-list items of a spec that name their evidence, such as `(evidence: screenshot)`. */
import { type Attachment } from '@muster/contract';

export interface Criterion {
  readonly text: string;
  /** A kind of attachment, or the name of a file. */
  readonly evidence: string;
}

const fencePattern = /^\s*(`{3,}(?!.*`)|~{3,})(.*)$/;
const criterionPattern = /^\s*(?:[-*+]|\d{1,9}[.)])\s+\[[ x]\]\s+(\S.*?)\s*\(evidence:([^()]{1,300})\)\s*$/i;

export function parseCriteria(spec: string): Criterion[] {
  /** The fence that began the code block. A fence of the same character that is as long ends it. */
  let opening: string | undefined;
  return spec.split('\n').flatMap((line) => {
    const [, fence, info = ''] = fencePattern.exec(line) ?? [];
    if (opening === undefined) opening = fence;
    else if (fence?.startsWith(opening) === true && info.trim() === '') opening = undefined;
    const [, text, evidence] = criterionPattern.exec(line) ?? [];
    return opening !== undefined || text === undefined || evidence === undefined
      ? []
      : [{ text, evidence: evidence.trim() }];
  });
}

/** A failed or unreadable report proves nothing, as for the policy `requireEvidence`. */
const isPassed = ({ kind, report }: Attachment): boolean =>
  kind !== 'test_report' || (report !== null && report.failures + report.errors === 0);

export interface CriterionEvidence {
  readonly state: 'fresh' | 'stale' | 'missing';
  readonly file: Attachment | undefined;
}

/** Finds the evidence that a criterion names. Files are in their order, newest first. */
export function findEvidence({ evidence }: Criterion, files: readonly Attachment[]): CriterionEvidence {
  const name = evidence.toLowerCase();
  const kind = name.replaceAll(/[\s-]+/g, '_');
  const named = files.filter(
    (file) => isPassed(file) && (file.kind === kind || file.name.toLowerCase() === name),
  );
  const fresh = named.find(({ stale }) => !stale);
  if (fresh !== undefined) return { state: 'fresh', file: fresh };
  const [stale] = named;
  return { state: stale === undefined ? 'missing' : 'stale', file: stale };
}

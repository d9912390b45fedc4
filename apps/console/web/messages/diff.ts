/** English texts of changed files, loaded with the pages that show them. */
import { type ChangedFile, type Changes } from '@muster/contract';
import { pluralize } from './en.ts';

type ProblemCode = NonNullable<Changes['problem']>['code'];

export const diffTexts = {
  title: 'Changes',
  loading: 'Loading the changes',
  pending: 'Reading the changes from the forge…',
  more: 'Show more files',
  files: (count: number) => pluralize(count, 'file', 'files'),
  lines: (additions: number, deletions: number) => `${additions} added, ${deletions} deleted`,
  problems: {
    no_head: 'No commit is known yet.',
    no_source: 'No forge is connected that has these changes, and no runner uploaded them.',
    forge_refused: 'The forge did not return the changes.',
    forge_away: 'The forge is unavailable. Muster will try again.',
  } satisfies Record<ProblemCode, string>,
  source: { forge: 'From the forge', runner: 'Uploaded by the runner' },
  head: (sha: string) => `Head ${sha.slice(0, 8)}`,
  approved: 'Approved head',
  notApproved: (sha: string) => `Not approved. The approved head is ${sha.slice(0, 8)}.`,
  notCurrent: (sha: string) => `The head under review is ${sha.slice(0, 8)}`,
  merge: (forgeName: string | null) => (forgeName === null ? 'Merge pull request' : `Merge on ${forgeName}`),
  pullRequest: (number: number) => `Pull request #${number}`,
  truncated: 'More files changed than are listed here.',
  patchCut: 'This file is too large to show completely.',
  binary: 'Binary file.',
  noLines: 'No lines changed.',
  status: {
    added: 'Added',
    modified: 'Modified',
    deleted: 'Deleted',
    renamed: 'Renamed',
    copied: 'Copied',
  } satisfies Record<ChangedFile['status'], string>,
  commentOn: (path: string, line: number, side: 'old' | 'new') =>
    `Comment on ${side === 'old' ? 'old ' : ''}line ${line} of ${path}`,
  threadsOn: (line: number, count: number) => `${pluralize(count, 'thread', 'threads')} on line ${line}`,
  patchOf: (path: string) => `Changes of ${path}`,
};

/** English texts of attachments, loaded with the pages that show them. */
import { type Attachment, type AttachmentKind, type TestReport } from '@muster/contract';
import { formatDuration } from './index.ts';
import { pluralize } from './en.ts';

const byteUnits = ['byte', 'kilobyte', 'megabyte'] as const;

/** Formats a size in its largest unit: "1.4 MB". */
export function formatBytes(bytes: number): string {
  const power = bytes < 1_000 ? 0 : bytes < 1_000_000 ? 1 : 2;
  return (bytes / 1_000 ** power).toLocaleString(undefined, {
    ...{
      style: 'unit',
      unit: byteUnits[power],
      unitDisplay: power === 0 ? 'long' : 'short',
      maximumFractionDigits: 1,
    },
  });
}

export const criteriaTexts = {
  title: (fresh: number, all: number) =>
    `Evidence for ${fresh.toLocaleString()} of ${pluralize(all, 'acceptance criterion', 'acceptance criteria')}`,
  states: { fresh: 'Attached:', stale: 'Outdated:', missing: 'Missing' },
};

export const fileTexts = {
  title: 'Attachments',
  evidence: 'Evidence',
  loading: 'Loading the attachments',
  none: 'No attachments yet.',
  noEvidence: 'No evidence yet.',
  dropHint: 'Or drop files here.',
  dropOrPaste: 'Drop files here, or paste an image into a comment.',
  drop: 'Drop files to attach them',
  attach: 'Attach files',
  attachTo: (name: string) => `Attach files to the comment by ${name}`,
  kind: 'Attach as',
  kinds: {
    file: 'File',
    test_report: 'Test report',
    screenshot: 'Screenshot',
    video: 'Video',
    log: 'Log',
    coverage: 'Coverage',
    diff: 'Diff',
  } satisfies Record<AttachmentKind, string>,
  places: {
    story: '',
    comment: 'on a comment',
    execution: 'of a run',
  } satisfies Record<Attachment['targetType'], string>,
  stale: 'outdated: the code has changed since',
  staleShort: 'Outdated',
  unreadable: 'This report could not be read, so it counts as no evidence.',
  report: ({ tests, failures, errors, skipped, durationMs }: TestReport) =>
    [
      pluralize(tests, 'test', 'tests'),
      failures > 0 ? `${failures.toLocaleString()} failed` : undefined,
      errors > 0 ? pluralize(errors, 'error', 'errors') : undefined,
      skipped > 0 ? `${skipped.toLocaleString()} skipped` : undefined,
      durationMs === null ? undefined : formatDuration(durationMs),
    ]
      .filter((part) => part !== undefined)
      .join(' · '),
  failedTests: (count: number) => `Show ${pluralize(count, 'failed test', 'failed tests')}`,
  download: 'Download',
  open: (name: string) => `Open ${name}`,
  remove: 'Delete',
  removeTitle: (name: string) => `Delete ${name}?`,
  removeWhy: 'Links to it in comments stop working. You can’t undo this.',
  notRemoved: 'The file could not be deleted',
  more: 'Show more',
  uploading: (name: string) => `Uploading ${name}`,
  progress: (percent: number) => `${percent.toLocaleString()} %`,
  uploaded: (name: string) => `${name} was attached`,
  notUploaded: (name: string) => `${name} could not be attached`,
  tooLarge: (maxBytes: number) => `A file can have at most ${(maxBytes / 1024 ** 2).toLocaleString()} MiB.`,
  insecure: 'Browsers can only upload files here over https.',
  cut: 'The connection was lost. Try again.',
  page: {
    loading: 'Loading the file',
    back: 'Back to the story',
    noPreview: 'This kind of file has no preview.',
    commit: 'Commit',
  },
};

/** The changed files of work. The patch of a file loads when the file is opened. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ChangedFile, type Changes } from '@muster/contract';
import { Icon } from '../components/icons.tsx';
import { lazyComponent } from '../components/lazily.ts';
import { NextPageButton } from '../components/next-page.tsx';
import { Loading } from '../components/states.tsx';
import { useClient } from '../data/context.ts';
import { diffTexts } from '../messages/diff.ts';
import { changesQuery, type ChangesTarget } from './diff-queries.ts';
import { forgeNameOf, type PullRequestFacts } from './pull-request.ts';

const PatchView = lazyComponent(
  () => import('./patch-view.tsx'),
  () => <Loading label={diffTexts.loading} rows={3} />,
);

/** The story of the work, on whose lines readers comment. */
export interface CommentedStory {
  readonly storyId: string;
  readonly storyKey: string;
}

interface ChangesProps {
  readonly target: ChangesTarget;
  readonly story: CommentedStory | undefined;
  readonly pullRequest: PullRequestFacts | null;
}

interface PullRequestLinkProps {
  readonly pullRequest: PullRequestFacts;
  /** True if the head under review was approved. */
  readonly isApproved: boolean;
}

/** Leads to the pull request, where readers merge it if it is approved and its checks have passed. */
function PullRequestLink({ pullRequest, isApproved }: PullRequestLinkProps) {
  const { number, url, isMergeable } = pullRequest;
  const canMerge = isApproved && isMergeable;
  return (
    <a
      href={url}
      target="_blank"
      rel="noreferrer"
      className="button diff-pull"
      data-kind={canMerge ? 'main' : undefined}
    >
      {canMerge ? diffTexts.merge(forgeNameOf(url)) : diffTexts.pullRequest(number)}
    </a>
  );
}

interface HeadFactsProps extends Pick<ChangesProps, 'pullRequest'> {
  readonly changes: Changes;
}

/** Says which head is shown, and whether it is the one that was approved. */
function HeadFacts({ changes, pullRequest }: HeadFactsProps) {
  const { headSha, currentHeadSha, isCurrent, isApproved, approvedHeadSha, source } = changes;
  if (headSha === null) return null;
  return (
    <p className="diff-head">
      <code>{diffTexts.head(headSha)}</code>
      {isApproved && (
        <span className="state" data-tone="good">
          {diffTexts.approved}
        </span>
      )}
      {!isApproved && approvedHeadSha !== null && (
        <span className="state" data-tone="wait">
          {diffTexts.notApproved(approvedHeadSha)}
        </span>
      )}
      {!isCurrent && currentHeadSha !== null && (
        <span className="state" data-tone="wait">
          {diffTexts.notCurrent(currentHeadSha)}
        </span>
      )}
      <span className="muted">
        {diffTexts.files(changes.fileCount)} · {diffTexts.lines(changes.additions, changes.deletions)}
        {source !== null && ` · ${diffTexts.source[source]}`}
      </span>
      {pullRequest !== null && (
        <PullRequestLink pullRequest={pullRequest} isApproved={isApproved && isCurrent} />
      )}
    </p>
  );
}

interface FileEntryProps extends Omit<ChangesProps, 'pullRequest'> {
  readonly file: ChangedFile;
  readonly headSha: string;
}

function FileEntry({ file, headSha, target, story }: FileEntryProps) {
  const [isOpen, setOpen] = useState(false);
  const { path, oldPath, status, additions, deletions } = file;
  return (
    <li className="diff-file">
      <button
        type="button"
        className="diff-file-head"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="down" size={14} />
        <span className="diff-path">
          {oldPath !== null && <span className="muted">{oldPath} → </span>}
          {path}
        </span>
        <span className="muted diff-status">{diffTexts.status[status]}</span>
        <span className="tabular diff-count" aria-label={diffTexts.lines(additions, deletions)}>
          <span data-kind="added">+{additions}</span> <span data-kind="deleted">−{deletions}</span>
        </span>
      </button>
      {isOpen && <PatchView {...{ file, headSha, target, story }} />}
    </li>
  );
}

export default function ChangesSection({ target, story, pullRequest }: ChangesProps) {
  const query = useInfiniteQuery(changesQuery(useClient(), target));
  const [first] = query.data?.pages ?? [];
  // Work without a commit has nothing to show, and neither has a viewer whose page failed.
  if (first === undefined || first.changes.problem?.code === 'no_head') return null;
  const { changes } = first;
  const files = query.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <section className="story-part" aria-labelledby="changes">
      <h2 id="changes">{diffTexts.title}</h2>
      <HeadFacts changes={changes} pullRequest={pullRequest} />
      {changes.state === 'pending' && (
        <p className="muted" role="status">
          {diffTexts.pending}
        </p>
      )}
      {changes.problem !== null && (
        <p className="state" data-tone="wait" title={changes.problem.message}>
          {diffTexts.problems[changes.problem.code]}
        </p>
      )}
      {files.length > 0 && (
        <ul className="diff-files">
          {files.map((file) => (
            <FileEntry key={file.path} {...{ file, target, story }} headSha={changes.headSha ?? ''} />
          ))}
        </ul>
      )}
      {changes.truncated && <p className="muted">{diffTexts.truncated}</p>}
      <NextPageButton query={query} name={diffTexts.more} />
    </section>
  );
}

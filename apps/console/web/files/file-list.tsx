/** A list of attachments: images in place, summaries of test reports, and marks of outdated evidence. */
import { Link } from '@tanstack/react-router';
import { type ReactNode } from 'react';
import { type Attachment, type TestReport } from '@muster/contract';
import { useClient, useIsAuthor } from '../data/context.ts';
import { useProjectPermissions } from '../data/roles.ts';
import { ConfirmButton } from '../components/ask.tsx';
import { Icon } from '../components/icons.tsx';
import { actorNameOf } from '../components/people.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { useWriteCall } from '../components/write.ts';
import { fileTexts, formatBytes } from '../messages/files.ts';
import { isImage, isVideo } from './file-address.ts';
import { Video } from './video.tsx';

export function TestReportSummary({ report }: { readonly report: TestReport }) {
  const { failures, errors, failed } = report;
  const hasFailed = failures + errors > 0;
  return (
    <div className="file-report">
      <p className="state" data-tone={hasFailed ? 'bad' : 'good'}>
        <Icon name={hasFailed ? 'warn' : 'tick'} size={13} />
        {fileTexts.report(report)}
      </p>
      {failed.length > 0 && (
        <details>
          <summary>{fileTexts.failedTests(failed.length)}</summary>
          <ul className="file-failed">
            {failed.map((name, index) => (
              <li key={index}>
                <code>{name}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

export const FileFacts = ({ file }: { readonly file: Attachment }) => (
  <span className="file-facts">
    {[
      file.kind === 'file' ? undefined : fileTexts.kinds[file.kind],
      formatBytes(file.size),
      actorNameOf(file.author),
    ]
      .filter((fact) => fact !== undefined)
      .join(' · ')}
    {' · '}
    <TimeAgo at={file.createdAt} />
  </span>
);

/** Shows what a file proves: the results of a test report, and that the code has changed since. */
export const FileEvidence = ({ file: { kind, report, stale } }: { readonly file: Attachment }) => (
  <>
    {stale && (
      <p className="state" data-tone="wait" title={fileTexts.stale}>
        <Icon name="warn" size={13} />
        {fileTexts.staleShort}
      </p>
    )}
    {report !== null && <TestReportSummary report={report} />}
    {kind === 'test_report' && report === null && <p className="muted">{fileTexts.unreadable}</p>}
  </>
);

interface DeleteFileButtonProps {
  readonly file: Attachment;
  readonly projectKey: string;
  /** The keys of the queries that are refetched after the deletion. */
  readonly queryKeys?: readonly (readonly string[])[];
  readonly onDeleted?: () => void;
}

const fileQueryKeys = [['story'], ['work'], ['file']];

/** Deletes the file. Authors can delete their own files, and leads any. */
export function DeleteFileButton({
  file,
  projectKey,
  queryKeys = fileQueryKeys,
  onDeleted,
}: DeleteFileButtonProps) {
  const { attachments } = useClient();
  const isAuthor = useIsAuthor(file.author);
  const { mayWrite, isLead } = useProjectPermissions(projectKey);
  const write = useWriteCall({ queryKeys, failureTitle: fileTexts.notRemoved });
  const { id: attachmentId, name } = file;
  if (!isLead && !(isAuthor && mayWrite)) return null;
  return (
    <ConfirmButton
      actionLabel={fileTexts.remove}
      subject={name}
      title={fileTexts.removeTitle(name)}
      explanation={fileTexts.removeWhy}
      onConfirm={async () => {
        if (await write(() => attachments.delete({ attachmentId }))) onDeleted?.();
      }}
    />
  );
}

interface FileRowProps {
  readonly file: Attachment;
  readonly projectKey: string;
  readonly namesPlace: boolean;
}

function FileRow({ file, projectKey, namesPlace }: FileRowProps) {
  const { id, name, downloadUrl, targetType } = file;
  const params = { attachmentId: id };
  return (
    <li className="file" data-stale={file.stale || undefined}>
      {isImage(file) && downloadUrl !== null && (
        <Link to="/files/$attachmentId" params={params} className="file-image">
          <img src={downloadUrl} alt={fileTexts.open(name)} loading="lazy" />
        </Link>
      )}
      <div className="file-words">
        <Link to="/files/$attachmentId" params={params} className="file-name">
          {name}
        </Link>
        <span className="muted">
          <FileFacts file={file} />
          {namesPlace && targetType !== 'story' && ` · ${fileTexts.places[targetType]}`}
        </span>
        <FileEvidence file={file} />
        {isVideo(file) && downloadUrl !== null && <Video {...{ name, downloadUrl }} />}
      </div>
      <div className="set-acts">
        {downloadUrl !== null && (
          <a href={downloadUrl} download={name} className="button" data-kind="quiet">
            {fileTexts.download}
            <span className="sr-only"> {name}</span>
          </a>
        )}
        <DeleteFileButton file={file} projectKey={projectKey} />
      </div>
    </li>
  );
}

interface FileListProps {
  readonly files: readonly Attachment[];
  readonly projectKey: string;
  /** True if the list says which files belong to comments and executions. */
  readonly namesPlace?: boolean;
  readonly whenEmpty?: ReactNode;
}

export const FileList = ({ files, projectKey, namesPlace = false, whenEmpty = null }: FileListProps) =>
  files.length === 0 ? (
    whenEmpty
  ) : (
    <ul className="files">
      {files.map((file) => (
        <FileRow key={file.id} {...{ file, projectKey, namesPlace }} />
      ))}
    </ul>
  );

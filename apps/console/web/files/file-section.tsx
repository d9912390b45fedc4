/** A section of attachments to which files can be added by a button or by dropping them. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Attachment, type AttachmentKind } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { useProjectPermissions } from '../data/roles.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { NextPageButton } from '../components/next-page.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { fileTexts } from '../messages/files.ts';
import { FileList } from './file-list.tsx';
import { storyFilesQuery } from './file-queries.ts';
import { type UploadTarget } from './upload.ts';
import { AttachButton, RunningUploads, useFileDrop, useUploads } from './uploads.tsx';

interface AddFilesProps {
  readonly target: UploadTarget;
  readonly hint: string;
  readonly initialKind?: AttachmentKind;
  readonly queryKeys: readonly (readonly string[])[];
}

const kinds = Object.keys(fileTexts.kinds) as AttachmentKind[];

/** The controls that attach files. The chosen kind says what the files prove. */
function AddFiles({ target, hint, initialKind = 'file', queryKeys }: AddFilesProps) {
  const [kind, setKind] = useState(initialKind);
  const uploads = useUploads({ target, kind, queryKeys });
  const { isOver, dropProps } = useFileDrop(uploads.add);
  return (
    <div className="file-drop" data-over={isOver || undefined} {...dropProps}>
      <AttachButton label={fileTexts.attach} onFiles={uploads.add} />
      <select
        className="field"
        aria-label={fileTexts.kind}
        value={kind}
        onChange={(event) => setKind(event.target.value as AttachmentKind)}
      >
        {kinds.map((one) => (
          <option key={one} value={one}>
            {fileTexts.kinds[one]}
          </option>
        ))}
      </select>
      <span className="muted">{isOver ? fileTexts.drop : hint}</span>
      <RunningUploads running={uploads.running} />
    </div>
  );
}

/** The attachments of a story, its comments and its executions. */
export function StoryFiles({ storyKey }: { readonly storyKey: string }) {
  const projectKey = projectKeyOf(storyKey);
  const { mayWrite } = useProjectPermissions(projectKey);
  const files = useInfiniteQuery(storyFilesQuery(useClient(), storyKey));
  const all = files.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <section className="story-part" aria-labelledby="files">
      <h2 id="files">{fileTexts.title}</h2>
      {files.isError && <LoadError error={files.error} onRetry={() => void files.refetch()} />}
      {files.isPending && <Loading label={fileTexts.loading} rows={1} />}
      <FileList
        files={all}
        projectKey={projectKey}
        namesPlace
        whenEmpty={files.isSuccess && !mayWrite && <p className="muted">{fileTexts.none}</p>}
      />
      <NextPageButton query={files} name={fileTexts.more} />
      {mayWrite && (
        <AddFiles
          target={{ targetType: 'story', targetId: storyKey }}
          hint={fileTexts.dropOrPaste}
          queryKeys={[['story', storyKey, 'files']]}
        />
      )}
    </section>
  );
}

interface ExecutionFilesProps {
  readonly executionId: string;
  readonly projectKey: string;
  readonly files: readonly Attachment[];
}

/** The evidence of an execution. */
export function ExecutionFiles({ executionId, projectKey, files }: ExecutionFilesProps) {
  const { mayWrite } = useProjectPermissions(projectKey);
  return (
    <>
      <FileList
        files={files}
        projectKey={projectKey}
        whenEmpty={!mayWrite && <p className="muted">{fileTexts.noEvidence}</p>}
      />
      {mayWrite && (
        <AddFiles
          target={{ targetType: 'execution', targetId: executionId }}
          hint={fileTexts.dropHint}
          initialKind="test_report"
          queryKeys={[['work']]}
        />
      )}
    </>
  );
}

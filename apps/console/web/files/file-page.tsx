/** The page of one attachment. Texts link to it, because the address of a download is valid for minutes only. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useClient } from '../data/context.ts';
import { projectKeyOf } from '../data/story-key.ts';
import { Icon } from '../components/icons.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { fileTexts } from '../messages/files.ts';
import { isImage, isVideo } from './file-address.ts';
import { DeleteFileButton, FileEvidence, FileFacts } from './file-list.tsx';
import { fileQuery, storyKeyQuery } from './file-queries.ts';
import { Video } from './video.tsx';

const fileRoute = getRouteApi('/files/$attachmentId');

export function FilePage() {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { attachmentId } = fileRoute.useParams();
  const found = useQuery(fileQuery(client, attachmentId));
  const file = found.data;
  const storyId = file?.storyId ?? null;
  const storyKey = useQuery({ ...storyKeyQuery(client, storyId ?? ''), enabled: storyId !== null }).data;
  useTitle(file?.name ?? fileTexts.title);
  if (found.isError) return <LoadError error={found.error} onRetry={() => void found.refetch()} isPage />;
  if (file === undefined)
    return (
      <div className="page">
        <Loading label={fileTexts.page.loading} />
      </div>
    );
  const { name, downloadUrl, headSha } = file;
  const projectKey = projectKeyOf(storyKey ?? '');
  const leave = async (): Promise<void> => {
    await (storyKey === undefined
      ? navigate({ to: '/' })
      : navigate({ to: '/s/$storyKey', params: { storyKey } }));
    queries.removeQueries(fileQuery(client, attachmentId));
  };
  return (
    <>
      <header className="page-head">
        {storyKey !== undefined && (
          <>
            <Link
              to="/s/$storyKey"
              params={{ storyKey }}
              className="icon-button"
              aria-label={fileTexts.page.back}
            >
              <Icon name="back" />
            </Link>
            <span className="key">{storyKey}</span>
          </>
        )}
        <h1 className="cut">{name}</h1>
      </header>
      <div className="page">
        <div className="file-page">
          <p className="muted">
            <FileFacts file={file} />
            {headSha !== null && (
              <>
                {' · '}
                {fileTexts.page.commit} <code>{headSha.slice(0, 10)}</code>
              </>
            )}
          </p>
          <FileEvidence file={file} />
          <div className="form-foot">
            {downloadUrl !== null && (
              <a href={downloadUrl} download={name} className="button" data-kind="main">
                {fileTexts.download}
              </a>
            )}
            <DeleteFileButton
              file={file}
              projectKey={projectKey}
              queryKeys={[['story'], ['work']]}
              onDeleted={() => void leave()}
            />
          </div>
          {isImage(file) && downloadUrl !== null ? (
            <img src={downloadUrl} alt={name} />
          ) : isVideo(file) && downloadUrl !== null ? (
            <Video key={attachmentId} {...{ name, downloadUrl }} />
          ) : (
            <p className="muted">{fileTexts.page.noPreview}</p>
          )}
        </div>
      </div>
    </>
  );
}

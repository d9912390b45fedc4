/** Exports of the organization and of own data, or of one project: start one, follow it, and download the archive. */
import { useQuery } from '@tanstack/react-query';
import { type DataExport, type ExportScope } from '@muster/contract';
import { actorNameOf } from '../components/people.tsx';
import { useClient } from '../data/context.ts';
import { exportTexts } from '../messages/exports.ts';
import { formatBytes } from '../messages/files.ts';
import { formatDateTime, timeAgo } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';
import { joinFacts, ListItem, QueryList, Section, useSettingsWrite } from './components.tsx';
import { exportsQuery } from './queries.ts';
import { useIsAdmin } from './rights.ts';

const tones = { queued: 'wait', running: 'wait', done: 'good', failed: 'bad' } as const;

function ExportRow({ item }: { readonly item: DataExport }) {
  const { scope, state, progress, size, failure, requestedBy, createdAt, expiresAt, downloadUrl } = item;
  return (
    <ListItem
      title={
        <>
          {exportTexts.scopes[scope]}{' '}
          <span className="state" data-tone={tones[state]}>
            {exportTexts.states[state]}
            {state === 'running' && <span className="tabular"> {exportTexts.percent(progress)}</span>}
          </span>
        </>
      }
      details={joinFacts(
        failure === null ? undefined : exportTexts.failures[failure],
        exportTexts.requested(actorNameOf(requestedBy), timeAgo(createdAt)),
        state === 'done' ? formatBytes(size) : undefined,
        expiresAt === null ? undefined : exportTexts.until(formatDateTime(expiresAt)),
      )}
    >
      {downloadUrl !== null && (
        <a className="button" href={downloadUrl} download>
          {exportTexts.download}
          <span className="sr-only">
            {' '}
            {exportTexts.scopes[scope]}, {timeAgo(createdAt)}
          </span>
        </a>
      )}
    </ListItem>
  );
}

export function Exports({ projectId }: { readonly projectId?: string }) {
  const client = useClient();
  const isAdmin = useIsAdmin();
  const { isBusy, run } = useSettingsWrite();
  const exports = useQuery(exportsQuery(client, projectId));
  const scopes: readonly ExportScope[] =
    projectId === undefined ? (isAdmin ? ['org', 'me'] : ['me']) : ['project'];
  const names = { org: exportTexts.org, me: exportTexts.mine, project: exportTexts.project };
  const isUnfinished = (scope: ExportScope): boolean =>
    exports.data?.some(
      (one) => one.scope === scope && (one.state === 'queued' || one.state === 'running'),
    ) === true;
  const begin = (scope: ExportScope) =>
    run(
      () => client.exports.begin({ scope, ...(projectId !== undefined && { projectId }) }),
      exportTexts.started,
    );
  return (
    <Section
      id="exports"
      title={texts.sections.exports}
      intro={exportTexts.intro}
      headerAction={scopes.map((scope) => (
        <button
          key={scope}
          type="button"
          className="button"
          disabled={isBusy || isUnfinished(scope)}
          onClick={() => void begin(scope)}
        >
          {names[scope]}
        </button>
      ))}
    >
      <QueryList
        query={exports}
        emptyTitle={exportTexts.empty}
        emptyWhy={scopes.includes('me') && !isAdmin ? exportTexts.emptyMine : exportTexts.emptyAll}
      >
        {(item) => <ExportRow key={item.id} item={item} />}
      </QueryList>
    </Section>
  );
}

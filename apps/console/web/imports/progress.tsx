/** Shows a running import and its result. */
import { Link } from '@tanstack/react-router';
import { errorText } from '../components/notices.tsx';
import { t } from '../messages/index.ts';
import { importTexts } from '../messages/imports.ts';
import { formatCounts } from './imports.tsx';
import { FoldedIssueList } from './preview.tsx';
import { forgetRun, type ImportRun } from './runs.ts';

function ImportOutcomeDetails({ run }: { readonly run: ImportRun }) {
  const { report } = run;
  return (
    <div className="folds">
      <FoldedIssueList
        title={importTexts.refusedItems(report.refused.length)}
        lines={report.refused.map(({ place, why }) => [why, [place]] as const)}
      />
      <FoldedIssueList
        title={`${importTexts.keptWhy} (${report.kept.length.toLocaleString()})`}
        lines={report.kept.map(({ key, place, why }) => [`${key ?? place}: ${why}`, []] as const)}
      />
      <FoldedIssueList
        title={importTexts.leftOut(report.notesByItem.size)}
        lines={[...report.notesByItem].map(([what, places]) => [what, places] as const)}
      />
      <FoldedIssueList
        title={`${importTexts.notWaiting} (${report.skippedDependencies.length.toLocaleString()})`}
        lines={report.skippedDependencies.map(
          ({ externalId, blockedBy, reason }) => [`${externalId}, ${blockedBy}: ${reason}`, []] as const,
        )}
      />
      <FoldedIssueList
        title={`${importTexts.withoutParent} (${report.skippedParents.length.toLocaleString()})`}
        lines={report.skippedParents.map(
          ({ externalId, parent, reason }) => [`${externalId}, ${parent}: ${reason}`, []] as const,
        )}
      />
    </div>
  );
}

interface ImportProgressProps {
  readonly run: ImportRun;
  readonly projectId: string;
  readonly projectKey: string;
  readonly onNewImport: () => void;
}

export function ImportProgress({ run, projectId, projectKey, onNewImport }: ImportProgressProps) {
  const { name, entriesRead, entryCount, state, report } = run;
  const isOver = state === 'done';
  const counts = formatCounts(report.counts);
  const title = isOver ? importTexts.done(name) : importTexts.running(name);
  return (
    <div className="form" aria-busy={state === 'running'}>
      <div className="preview-head" role="status">
        <h3>{title}</h3>
        {report.isContinued && isOver && <p className="muted">{importTexts.continued}</p>}
        {(state === 'stopped' || state === 'failed') && (
          <p className="state" data-tone={state === 'failed' ? 'bad' : 'wait'}>
            {state === 'failed' ? importTexts.failed : importTexts.stopped}
          </p>
        )}
        {state === 'failed' && <p className="muted">{errorText(run.error)}</p>}
      </div>
      {!isOver && (
        <div className="progress">
          <progress max={Math.max(1, entryCount)} value={entriesRead} aria-label={title} />
          <span className="muted tabular">{importTexts.progress(entriesRead, entryCount)}</span>
        </div>
      )}
      {counts !== '' && <p className="tabular">{counts}</p>}
      {state !== 'running' && <ImportOutcomeDetails run={run} />}
      <div className="form-foot">
        {state === 'running' && (
          <button type="button" className="button" onClick={run.stop}>
            {importTexts.stop}
          </button>
        )}
        {(state === 'stopped' || state === 'failed') && (
          <button type="button" className="button" data-kind="main" onClick={run.resume}>
            {importTexts.goOn}
          </button>
        )}
        {isOver && (
          <Link to="/p/$projectKey" params={{ projectKey }} className="button" data-kind="main">
            {importTexts.toBoard}
          </Link>
        )}
        {state === 'running' ? (
          <span className="hint grow">{importTexts.runningWhy}</span>
        ) : (
          <button
            type="button"
            className="button"
            onClick={() => {
              forgetRun(projectId);
              onNewImport();
            }}
          >
            {isOver ? importTexts.other : t.cancel}
          </button>
        )}
      </div>
    </div>
  );
}

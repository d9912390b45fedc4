/** Shows a running import and its result. */
import { Link } from '@tanstack/react-router';
import { reasonFor } from '../components/notices.tsx';
import { t } from '../messages/index.ts';
import { i } from '../messages/imports.ts';
import { countsText } from './imports.tsx';
import { Lines } from './preview.tsx';
import { forget, type Run } from './runs.ts';

function Outcome({ run }: { readonly run: Run }) {
  const { report } = run;
  return (
    <div className="folds">
      <Lines
        title={i.refusedItems(report.refused.length)}
        lines={report.refused.map(({ place, why }) => [why, [place]] as const)}
      />
      <Lines
        title={`${i.keptWhy} (${report.kept.length.toLocaleString()})`}
        lines={report.kept.map(({ key, place, why }) => [`${key ?? place}: ${why}`, []] as const)}
      />
      <Lines
        title={i.leftOut(report.issues.size)}
        lines={[...report.issues].map(([what, places]) => [what, places] as const)}
      />
      <Lines
        title={`${i.notWaiting} (${report.leftOut.length.toLocaleString()})`}
        lines={report.leftOut.map(
          ({ externalId, blockedBy, reason }) => [`${externalId}, ${blockedBy}: ${reason}`, []] as const,
        )}
      />
    </div>
  );
}

export function Progress({
  run,
  projectId,
  projectKey,
  onOther,
}: {
  readonly run: Run;
  readonly projectId: string;
  readonly projectKey: string;
  readonly onOther: () => void;
}) {
  const { name, read, total, state, report } = run;
  const isOver = state === 'done';
  const counts = countsText(report.counts);
  const title = isOver ? i.done(name) : i.running(name);
  return (
    <div className="form" aria-busy={state === 'running'}>
      <div className="preview-head" role="status">
        <h3>{title}</h3>
        {report.isContinued && isOver && <p className="muted">{i.continued}</p>}
        {(state === 'stopped' || state === 'failed') && (
          <p className="state" data-tone={state === 'failed' ? 'bad' : 'wait'}>
            {state === 'failed' ? i.failed : i.stopped}
          </p>
        )}
        {state === 'failed' && <p className="muted">{reasonFor(run.error)}</p>}
      </div>
      {!isOver && (
        <div className="progress">
          <progress max={Math.max(1, total)} value={read} aria-label={title} />
          <span className="muted tabular">{i.progress(read, total)}</span>
        </div>
      )}
      {counts !== '' && <p className="tabular">{counts}</p>}
      {state !== 'running' && <Outcome run={run} />}
      <div className="form-foot">
        {state === 'running' && (
          <button type="button" className="button" onClick={run.stop}>
            {i.stop}
          </button>
        )}
        {(state === 'stopped' || state === 'failed') && (
          <button type="button" className="button" data-kind="main" onClick={run.goOn}>
            {i.goOn}
          </button>
        )}
        {isOver && (
          <Link to="/p/$projectKey" params={{ projectKey }} className="button" data-kind="main">
            {i.toBoard}
          </Link>
        )}
        {state === 'running' ? (
          <span className="hint grow">{i.runningWhy}</span>
        ) : (
          <button
            type="button"
            className="button"
            onClick={() => {
              forget(projectId);
              onOther();
            }}
          >
            {isOver ? i.other : t.cancel}
          </button>
        )}
      </div>
    </div>
  );
}

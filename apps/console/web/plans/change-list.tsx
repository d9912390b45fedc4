/** Shows what a plan would change: each item with the values on the board and in the plan. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode, useState } from 'react';
import { type StoryPlanChange, type StoryPlanItem } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { lazyComponent } from '../components/lazily.ts';
import { LoadError, Loading } from '../components/states.tsx';
import { planTexts } from '../messages/plans.ts';
import { describeChange, type FieldDiff, isLongText } from './plan-diff.ts';
import { type PlanPreview } from './preview.ts';

const texts = planTexts.diff;

const WordDiff = lazyComponent(
  () => import('../story/word-diff.tsx'),
  () => <Loading label={planTexts.form.reading} rows={2} />,
);

const tones = { create: 'good', update: 'live', keep: 'wait', unchanged: 'none', remove: 'bad' } as const;

interface LongTextDiffProps {
  readonly field: 'description' | 'spec';
  readonly storyId: string | null;
  readonly newText: string;
}

/** A description or a spec. The text on the board is fetched when the comparison is opened. */
function LongTextDiff({ field, storyId, newText }: LongTextDiffProps) {
  const client = useClient();
  const [isOpen, setOpen] = useState(false);
  const board = useQuery({
    queryKey: ['plan-preview', 'text', field, storyId],
    queryFn: async () => {
      if (storyId === null) return '';
      return field === 'spec'
        ? (await client.storySpec.get({ storyId })).spec.content
        : ((await client.stories.get({ storyId })).story.description ?? '');
    },
    enabled: isOpen,
    gcTime: 0,
  });
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{texts.compare}</summary>
      {board.isError && <LoadError error={board.error} onRetry={() => void board.refetch()} />}
      {isOpen && board.data !== undefined && <WordDiff before={board.data} after={newText} />}
    </details>
  );
}

const Value = ({ text }: { readonly text: string | null }) =>
  text === null ? <span className="muted">{texts.nothing}</span> : <>{text}</>;

interface FieldChangeProps {
  readonly diff: FieldDiff;
  readonly item: StoryPlanItem | undefined;
  readonly storyId: string | null;
}

function FieldChange({ diff: { field, before, after, keptBecause }, item, storyId }: FieldChangeProps) {
  const newText = isLongText(field) ? item?.[field] : undefined;
  return (
    <div className="plan-field">
      <dt>{texts.fields[field] ?? field}</dt>
      <dd>
        {isLongText(field) ? (
          newText !== undefined && <LongTextDiff field={field} storyId={storyId} newText={newText} />
        ) : keptBecause !== undefined ? (
          (before !== null || after !== null) && (
            <span>
              {texts.kept(before ?? texts.nothing)}{' '}
              <span className="muted">({texts.wanted(after ?? texts.nothing)})</span>
            </span>
          )
        ) : (
          <span>
            {storyId !== null && (
              <>
                <del>
                  <span className="sr-only">{texts.before} </span>
                  <Value text={before} />
                </del>
                <span aria-hidden="true"> → </span>
              </>
            )}
            <ins>
              <span className="sr-only">{texts.after} </span>
              <Value text={after} />
            </ins>
          </span>
        )}
        {keptBecause !== undefined && <p className="hint">{keptBecause}</p>}
      </dd>
    </div>
  );
}

interface ActionRowProps {
  readonly action: StoryPlanChange['action'];
  readonly children: ReactNode;
}

const ActionRow = ({ action, children }: ActionRowProps) => (
  <li className="row plan-change">
    <span className="state plan-action" data-tone={tones[action]}>
      {texts.actions[action]}
    </span>
    <div className="row-words">{children}</div>
  </li>
);

function ChangeRow({ change, preview }: { readonly change: StoryPlanChange; readonly preview: PlanPreview }) {
  const { ref, action, storyId, key, fields } = change;
  const item = (preview.params.items as readonly StoryPlanItem[]).find((one) => one.ref === ref);
  const story = storyId === null ? undefined : preview.stories.get(storyId);
  const diffs = describeChange(change, item, story, preview.names);
  // The title of a new story is in the heading.
  const shown = action === 'create' ? diffs.filter(({ field }) => field !== 'title') : diffs;
  return (
    <ActionRow action={action}>
      <p className="row-line">
        <span className="key">{ref}</span>{' '}
        {key === null ? (
          <span className="row-title">{item?.title}</span>
        ) : (
          <Link to="/s/$storyKey" params={{ storyKey: key }} className="row-title">
            <span className="key">{key}</span> {story?.title ?? item?.title}
          </Link>
        )}
      </p>
      {action === 'remove' ? (
        <p className="muted">{fields.includes('status') ? texts.isCanceled : texts.isLeft}</p>
      ) : (
        shown.length > 0 && (
          <dl className="plan-fields">
            {shown.map((diff) => (
              <FieldChange key={`${diff.field} ${diff.keptBecause ?? ''}`} {...{ diff, item, storyId }} />
            ))}
          </dl>
        )
      )}
    </ActionRow>
  );
}

function EpicChanges({ preview: { result, names } }: { readonly preview: PlanPreview }) {
  const changed = result.epics.filter(({ action }) => action !== 'unchanged');
  if (changed.length === 0) return null;
  return (
    <>
      <h3>{texts.epics}</h3>
      <ul className="rows">
        {changed.map(({ ref, action, fields, kept }) => (
          <ActionRow key={ref} action={action}>
            <p className="row-line">
              <span className="key">{ref}</span> {names.epics.get(ref)}
            </p>
            {action === 'update' && (
              <p className="muted">{fields.map((field) => texts.fields[field] ?? field).join(', ')}</p>
            )}
            {kept.map(({ field, message }) => (
              <p key={field} className="hint">
                {texts.fields[field] ?? field}: {message}
              </p>
            ))}
          </ActionRow>
        ))}
      </ul>
    </>
  );
}

export function ChangeList({ preview }: { readonly preview: PlanPreview }) {
  const { changes } = preview.result;
  const changed = changes.filter(({ action }) => action !== 'unchanged');
  const unchanged = changes.filter(({ action }) => action === 'unchanged');
  return (
    <>
      <EpicChanges preview={preview} />
      <ul className="rows">
        {changed.map((change) => (
          <ChangeRow key={change.ref} change={change} preview={preview} />
        ))}
      </ul>
      {unchanged.length > 0 && (
        <details className="fold">
          <summary>{texts.unchanged(unchanged.length)}</summary>
          <p className="plan-unchanged">
            {unchanged.map(({ ref, key }, at) => (
              <Fragment key={ref}>
                {at > 0 && ', '}
                <span className="key">{key ?? ref}</span>
              </Fragment>
            ))}
          </p>
        </details>
      )}
    </>
  );
}

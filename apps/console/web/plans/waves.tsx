/** Waves as columns of stories with lines between them. The columns are lists, so screen readers get the same data. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type StoryCard } from '@muster/contract';
import {
  type FocusEvent,
  type KeyboardEvent,
  type ReactNode,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { canStartNow } from '../board/filter.ts';
import { useClient } from '../data/context.ts';
import { StatusIcon, Icon } from '../components/icons.tsx';
import { Avatar } from '../components/people.tsx';
import { EmptyState, LoadError, Loading } from '../components/states.tsx';
import { StartMark } from '../components/work.tsx';
import { t } from '../messages/index.ts';
import { planTexts } from '../messages/plans.ts';
import { ConflictList, useConflicts, type Conflict } from './conflicts.tsx';
import { wavesQuery, type WavesScope } from './queries.ts';
import { WaveLines } from './wave-lines.tsx';
import { type Dependencies, findConnected, layoutWaves, storyInDirection } from './wave-layout.ts';

const texts = planTexts.waves;

type WavesResult = Awaited<ReturnType<NonNullable<ReturnType<typeof wavesQuery>['queryFn']>>>;

/** Returns the open stories that each shown story waits for: its blockers and its children. */
function findDependencies({ waves, summaries }: WavesResult): Dependencies {
  const shown = new Set(waves.flatMap(({ stories }) => stories.map(({ id }) => id)));
  const waitsFor = new Map<string, string[]>([...shown].map((id) => [id, []]));
  for (const id of shown) {
    const { blockedBy = [], parentId = null } = summaries.get(id) ?? {};
    waitsFor.get(id)?.push(...blockedBy.filter((blocker) => shown.has(blocker)));
    if (parentId !== null) waitsFor.get(parentId)?.push(id);
  }
  return waitsFor;
}

function Summary({ result, cards }: { readonly result: WavesResult; readonly cards: readonly StoryCard[] }) {
  const { criticalPath, blocked } = result;
  const byKey = new Map(cards.map((card) => [card.key, card]));
  const points = criticalPath.reduce((sum, key) => sum + (byKey.get(key)?.estimate ?? 1), 0);
  const underWay = cards.filter(({ status }) => status === 'in_progress' || status === 'in_review').length;
  return (
    <div className="row-fact">
      <span className="state" data-tone="live">
        <Icon name="start" size={12} />
        {texts.canStart(cards.filter(canStartNow).length)}
      </span>
      {underWay > 0 && <span>{texts.underWay(underWay)}</span>}
      {blocked > 0 && <span>{texts.blocked(blocked)}</span>}
      {criticalPath.length > 1 && (
        <span className="wave-path">
          {texts.criticalPath}, {texts.points(points)}: {criticalPath.join(' → ')}
        </span>
      )}
    </div>
  );
}

interface WaveStoryProps {
  readonly card: StoryCard;
  readonly waitsForKeys: readonly string[];
  /** The number of open stories that are not shown and that it waits for. */
  readonly otherBlockers: number;
  readonly isCritical: boolean;
  readonly isRelated: boolean;
  readonly conflicts: readonly Conflict[];
  readonly tabIndex: number;
}

function WaveStory({
  card,
  waitsForKeys,
  otherBlockers,
  isCritical,
  isRelated,
  conflicts,
  tabIndex,
}: WaveStoryProps) {
  const { id, key, title, status, execution } = card;
  const holder = execution?.holder ?? null;
  const waits = [...waitsForKeys, ...(otherBlockers > 0 ? [texts.others(otherBlockers)] : [])];
  const conflictText = conflicts.map(({ other, witness }) => texts.conflict(other, witness)).join('. ');
  return (
    <Link
      to="/s/$storyKey"
      params={{ storyKey: key }}
      className="wave-story"
      data-story={id}
      data-critical={isCritical || undefined}
      data-related={isRelated || undefined}
      tabIndex={tabIndex}
      title={title}
    >
      <span className="card-row">
        <StatusIcon status={status} />
        <span className="sr-only">{t.status[status]}</span>
        <span className="key">{key}</span>
        {canStartNow(card) && <StartMark />}
        {isCritical && <span className="sr-only">{texts.onCriticalPath}</span>}
        <span className="card-people">
          {conflicts.length > 0 && (
            <span className="state" data-tone="wait" title={conflictText}>
              <Icon name="warn" size={12} />
              <span className="sr-only">{conflictText}</span>
            </span>
          )}
          {holder !== null && <Avatar name={holder.name} kind={holder.kind} />}
        </span>
      </span>
      <span className="cut">{title}</span>
      {waits.length > 0 && <span className="wave-waits">{texts.waitsFor(waits)}</span>}
    </Link>
  );
}

const storyIdOf = ({ target }: { readonly target: EventTarget }): string | null =>
  (target instanceof Element ? target.closest('[data-story]') : null)?.getAttribute('data-story') ?? null;

/** Remembers the story that had the focus last, and keeps the focus on it when a change moves it to another wave. */
function useStoryFocus(result: WavesResult) {
  const area = useRef<HTMLDivElement>(null);
  const [lastId, setLastId] = useState<string | null>(null);
  const [isInside, setInside] = useState(false);
  const focus = (id: string, options?: FocusOptions): void =>
    area.current?.querySelector<HTMLElement>(`[data-story="${CSS.escape(id)}"]`)?.focus(options);
  useLayoutEffect(() => {
    // The focused element is gone without a blur event if it was replaced.
    if (isInside && lastId !== null && document.activeElement === document.body)
      focus(lastId, { preventScroll: true });
    // Only new waves can replace the focused element.
  }, [result]);
  const handlers = {
    onFocus: (event: FocusEvent): void => {
      setLastId(storyIdOf(event));
      setInside(true);
    },
    onBlur: (): void => setInside(false),
  };
  return { area, lastId, isInside, focus, handlers };
}

/** Everything that the graph draws, computed once for each result. */
function useGraph(result: WavesResult) {
  return useMemo(() => {
    const { waves, criticalPath } = result;
    const cards = new Map(waves.flatMap(({ stories }) => stories.map((card) => [card.id, card])));
    const waitsFor = findDependencies(result);
    const idsByKey = new Map([...cards.values()].map(({ id, key }) => [key, id]));
    // A single story is no path.
    const criticalIds = criticalPath.length > 1 ? criticalPath.flatMap((key) => idsByKey.get(key) ?? []) : [];
    const columns = waves.map(({ stories }) => stories.map(({ id }) => id));
    return {
      ...{ cards, waitsFor, criticalIds: new Set(criticalIds) },
      layout: layoutWaves(columns, waitsFor, criticalIds),
    };
  }, [result]);
}

interface WaveProps {
  readonly wave: WavesResult['waves'][number];
  /** The ids of its stories, from top to bottom. */
  readonly ids: readonly string[];
  readonly storyOf: (id: string) => ReactNode;
}

function Wave({ wave: { index, count, stories }, ids, storyOf }: WaveProps) {
  return (
    <section className="wave" aria-labelledby={`wave-${index}`}>
      <h2 id={`wave-${index}`}>
        {texts.wave(index + 1)}
        {index === 0 && ` · ${texts.now}`} <span className="column-count">{count}</span>
      </h2>
      <ol>
        {ids.map((id) => (
          <li key={id}>{storyOf(id)}</li>
        ))}
      </ol>
      {stories.length < count && <p className="hint">{texts.cut(stories.length, count)}</p>}
    </section>
  );
}

function WaveGraph({ result, projectKey }: { readonly result: WavesResult; readonly projectKey: string }) {
  const { cards, waitsFor, criticalIds, layout } = useGraph(result);
  const conflicts = useConflicts(projectKey, cards);
  const { area, lastId, isInside, focus, handlers } = useStoryFocus(result);
  const [pointedId, setPointedId] = useState<string | null>(null);
  const activeId = pointedId ?? (isInside ? lastId : null);
  const connected = useMemo(
    () => (activeId === null || !cards.has(activeId) ? undefined : findConnected(activeId, waitsFor)),
    [activeId, waitsFor, cards],
  );
  const tabStop = lastId !== null && cards.has(lastId) ? lastId : layout.columns[0]?.[0];
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = storyInDirection(layout, waitsFor, storyIdOf(event) ?? '', event.key);
    if (event.key.startsWith('Arrow')) event.preventDefault();
    if (next !== undefined) focus(next);
  };
  const storyOf = (id: string): ReactNode => {
    const card = cards.get(id);
    if (card === undefined) return null;
    const shownBlockers = (result.summaries.get(id)?.blockedBy ?? []).filter((one) => cards.has(one));
    return (
      <WaveStory
        card={card}
        waitsForKeys={(waitsFor.get(id) ?? []).flatMap((one) => cards.get(one)?.key ?? [])}
        otherBlockers={Math.max(0, card.counts.openBlockers - shownBlockers.length)}
        isCritical={criticalIds.has(id)}
        isRelated={connected?.has(id) === true}
        conflicts={conflicts.byKey.get(card.key) ?? []}
        tabIndex={id === tabStop ? 0 : -1}
      />
    );
  };
  return (
    <>
      <p className="sr-only" id="waves-keys">
        {texts.keys}
      </p>
      {/* The stories are links that get the focus. The element only observes the events that bubble up from them. */}
      <div
        ref={area}
        className="waves"
        role="group"
        aria-label={texts.graph}
        aria-describedby="waves-keys"
        data-active={connected !== undefined || undefined}
        onKeyDown={onKeyDown}
        {...handlers}
        onPointerOver={(event) => setPointedId(storyIdOf(event))}
        onPointerLeave={() => setPointedId(null)}
      >
        <WaveLines layout={layout} related={connected} />
        {result.waves.map((wave, at) => (
          <Wave key={wave.index} wave={wave} ids={layout.columns[at] ?? []} storyOf={storyOf} />
        ))}
      </div>
      <ConflictList conflicts={conflicts} />
    </>
  );
}

export function Waves({ projectKey, scope }: { readonly projectKey: string; readonly scope: WavesScope }) {
  const { data, error, refetch } = useQuery(wavesQuery(useClient(), projectKey, scope));
  if (data === undefined)
    return error === null ? (
      <Loading label={texts.loading} />
    ) : (
      <LoadError error={error} onRetry={() => void refetch()} />
    );
  const cards = data.waves.flatMap(({ stories }) => stories);
  if (cards.length === 0)
    return (
      <EmptyState title={texts.empty}>
        <p>{texts.emptyWhy}</p>
      </EmptyState>
    );
  return (
    <>
      <Summary result={data} cards={cards} />
      <WaveGraph result={data} projectKey={projectKey} />
    </>
  );
}

/** The log of a run: its lines as they arrive, with search. Only visible lines are rendered. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type RunLogLine, type RunState } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { runTexts } from '../messages/runs.ts';

/** A short wait keeps few connections busy after the page is left. */
const waitSeconds = 10;
const retryDelayMs = 5_000;
const pageSize = 1_000;
const estimatedLineHeightPx = 20;
/** The distance from the end of the log up to which the reader is still at its end. */
const endTolerancePx = 24;

interface LoadedLog {
  readonly lines: readonly RunLogLine[];
  readonly droppedCount: number;
  readonly state: RunState | undefined;
  readonly hasFailed: boolean;
}

const emptyLog: LoadedLog = { lines: [], droppedCount: 0, state: undefined, hasFailed: false };

const isFinal = (state: RunState): boolean => state !== 'running' && state !== 'waiting';

/** Reads the log to its end, and follows it until the run ends. */
function useRunLog(runId: string, projectId: string): LoadedLog {
  const { agents } = useClient();
  const [log, setLog] = useState(emptyLog);
  useEffect(() => {
    const leaving = new AbortController();
    const isGone = (): boolean => leaving.signal.aborted;
    const follow = async (): Promise<void> => {
      let afterLine = 0;
      while (!isGone())
        try {
          const page = await agents.runs.log({ runId, projectId, afterLine, limit: pageSize, waitSeconds });
          if (isGone()) return;
          setLog(({ lines }) => ({
            lines: page.items.length === 0 ? lines : [...lines, ...page.items],
            droppedCount: page.dropped,
            state: page.state,
            hasFailed: false,
          }));
          afterLine = page.items.at(-1)?.line ?? afterLine;
          if (isFinal(page.state) && afterLine >= page.lastLine) return;
        } catch {
          if (isGone()) return;
          setLog((before) => ({ ...before, hasFailed: true }));
          await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
        }
    };
    setLog(emptyLog);
    void follow();
    return () => leaving.abort();
  }, [agents, runId, projectId]);
  return log;
}

interface LogLinesProps {
  readonly lines: readonly RunLogLine[];
  readonly isFollowing: boolean;
  readonly onScrolledAway: () => void;
}

function LogLines({ lines, isFollowing, onScrolledAway }: LogLinesProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const lastScroll = useRef({ top: 0, height: 0 });
  const virtualizer = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimatedLineHeightPx,
    getItemKey: (index) => lines[index]?.line ?? index,
    overscan: 20,
  });
  useEffect(() => {
    if (isFollowing && lines.length > 0) virtualizer.scrollToIndex(lines.length - 1, { align: 'end' });
  }, [isFollowing, lines.length, virtualizer]);
  return (
    <div
      ref={scroller}
      className="run-log"
      role="log"
      aria-label={runTexts.log}
      aria-live="off"
      // A region that scrolls must be reachable by keyboard.
      tabIndex={0}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        const { top, height } = lastScroll.current;
        const isAtEnd = scrollHeight - scrollTop - clientHeight <= endTolerancePx;
        // The browser itself scrolls up when a search leaves fewer lines.
        if (scrollTop < top && scrollHeight >= height && !isAtEnd) onScrolledAway();
        lastScroll.current = { top: scrollTop, height: scrollHeight };
      }}
    >
      <div className="run-log-lines" style={{ blockSize: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, key, start }) => {
          const line = lines[index];
          if (line === undefined) return null;
          return (
            <div
              key={key}
              ref={virtualizer.measureElement}
              data-index={index}
              data-stream={line.stream}
              className="run-log-line"
              style={{ transform: `translateY(${start}px)` }}
            >
              <span className="run-log-number" aria-hidden="true">
                {line.line}
              </span>
              {line.stream !== 'stdout' && <span className="sr-only">{runTexts.streams[line.stream]}: </span>}
              <span className="run-log-text">{line.message}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

export function RunLogView({ runId, projectId }: { readonly runId: string; readonly projectId: string }) {
  const { lines, droppedCount, state, hasFailed } = useRunLog(runId, projectId);
  const [query, setQuery] = useState('');
  const [isFollowing, setFollowing] = useState(true);
  const wanted = query.trim().toLowerCase();
  const shown = useMemo(
    () => (wanted === '' ? lines : lines.filter(({ message }) => message.toLowerCase().includes(wanted))),
    [lines, wanted],
  );
  const isLive = state === undefined || !isFinal(state);
  return (
    <section className="run-part" aria-labelledby="run-log">
      <div className="run-log-head">
        <h2 id="run-log">{runTexts.log}</h2>
        <span className="muted tabular" role="status">
          {wanted === '' ? runTexts.lines(lines.length) : runTexts.matches(shown.length, lines.length)}
        </span>
        <span className="grow" />
        <input
          type="search"
          className="field"
          placeholder={runTexts.search}
          aria-label={runTexts.search}
          value={query}
          onChange={({ target }) => setQuery(target.value)}
        />
        {isLive && (
          <button
            type="button"
            className="button"
            aria-pressed={isFollowing}
            onClick={() => setFollowing(!isFollowing)}
          >
            {runTexts.follow}
          </button>
        )}
      </div>
      {droppedCount > 0 && <p className="muted">{runTexts.dropped(droppedCount)}</p>}
      {hasFailed && <p className="muted">{runTexts.logFailed}</p>}
      {shown.length > 0 ? (
        <LogLines
          lines={shown}
          isFollowing={isFollowing && isLive}
          onScrolledAway={() => setFollowing(false)}
        />
      ) : (
        <p className="muted">
          {lines.length > 0 ? runTexts.noMatches : isLive ? runTexts.noLog : runTexts.noLogEnded}
        </p>
      )}
    </section>
  );
}

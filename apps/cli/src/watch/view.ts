/** Formats a snapshot as lines. */
import { formatHeading, sanitizeToOneLine, type TerminalFormat } from '@muster/terminal';
import { formatList } from '../output/show.ts';
import { type WatchSnapshot } from './look.ts';

export interface SnapshotPageFormat extends TerminalFormat {
  /** The height of the terminal in lines. Undefined if the number of lines is unlimited. */
  readonly height: number | undefined;
  /** The reason why the page is outdated. */
  readonly connectionProblem?: string;
}

/** Formats a duration as `42 s`, `3 min`, `2 h` or `5 d`. Returns `over` for a negative duration. */
export function formatDuration(millis: number): string {
  const seconds = Math.round(millis / 1000);
  if (seconds < 0) return 'over';
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

const buildSections = (
  snapshot: WatchSnapshot,
): { title: string; items: Record<string, unknown>[]; emptyText: string }[] => {
  const now = Date.parse(snapshot.at);
  const since = (time: string): string => formatDuration(now - Date.parse(time));
  const until = (time: string): string => formatDuration(Date.parse(time) - now);
  const projectOf = (id: string): string => snapshot.projects.get(id) ?? '';
  return [
    {
      title: 'At work',
      emptyText: 'No one is at work.',
      items: snapshot.runs.map((run) => ({
        who: run.agent === null ? run.member.name : `${run.agent.name} (${run.member.name})`,
        state: run.state,
        story: run.storyKey ?? projectOf(run.projectId),
        began: since(run.startedAt),
        seen: since(run.lastSeenAt),
        run: run.runId,
        message: run.lastEvent?.message ?? run.lastEvent?.kind ?? null,
      })),
    },
    {
      title: 'Leases',
      emptyText: 'No one holds a lease.',
      items: snapshot.executions
        .filter(({ lease }) => lease !== null)
        .map(({ story, group, lease, phase, progress, state, stopRequested }) => ({
          work: story?.key ?? group?.name ?? '',
          holder: lease?.holder.name ?? '',
          state: stopRequested === null ? state : `${state}, stop requested`,
          phase,
          done: `${progress} %`,
          left: lease === null ? '' : until(lease.expiresAt),
        })),
    },
    {
      title: 'Locks',
      emptyText: 'There are no locks.',
      items: snapshot.locks.map(({ projectId, holder, mode, resources, reason, expiresAt }) => ({
        project: projectOf(projectId),
        holder: holder.name,
        mode,
        left: until(expiresAt),
        resources,
        reason,
      })),
    },
  ];
};

/** Cuts a section to its share of the screen, and states how many lines are missing. */
const cutLines = (lines: string[], maxLines: number): string[] =>
  lines.length <= maxLines
    ? lines
    : [...lines.slice(0, maxLines - 1), `… and ${lines.length - maxLines + 1} more`];

export function formatSnapshot(snapshot: WatchSnapshot, page: SnapshotPageFormat): string[] {
  const parts = buildSections(snapshot).map(({ title, items, emptyText: none }) => ({
    title: items.length === 0 ? title : `${title} (${items.length})`,
    lines: items.length === 0 ? [none] : formatList(items, page, Object.keys(items[0] ?? {})),
  }));
  const places = [...snapshot.projects.values()].join(', ');
  const top = sanitizeToOneLine(
    `${snapshot.org}${places === '' ? '' : ` · ${places}`} · ${snapshot.at.slice(11, 19)}Z`,
  );
  // The page has two lines for its head. Each part has a title and a blank line.
  const room = page.height === undefined ? Infinity : page.height - 2 - 2 * parts.length;
  const share = Math.max(2, Math.floor(room / parts.length));
  return [
    page.width === undefined ? top : top.slice(0, page.width),
    ...(page.connectionProblem === undefined
      ? []
      : [sanitizeToOneLine(page.connectionProblem).slice(0, page.width)]),
    ...parts.flatMap(({ title, lines }) => ['', formatHeading(title, page), ...cutLines(lines, share)]),
  ];
}

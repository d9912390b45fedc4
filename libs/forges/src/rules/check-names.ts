/**
 * The names under which checks are stored. The name of each suite, run and pipeline contains the forge's id,
 * so that a passed check never hides a failed one. A run replaces older runs of the same workflow for the
 * same event; the name contains both.
 */
import { type CommitCheck } from './fact.ts';

/** The maximum length of a stored name. */
const maxNameLength = 255;
const truncateName = (name: string): string => name.slice(0, maxNameLength);

export const statusName = (context: string): string => truncateName(`status:${context}`);

/** Returns the name of a check suite. `app` is null if the app was deleted. */
export const suiteName = (app: number | null, id: number): string => `suite:${app ?? ''}:${id}`;

/** Returns true if the name is that of a suite of this app. */
export const isSuiteOf = (app: string | null, name: string): boolean =>
  app !== null && name.startsWith(`suite:${app}:`);

export interface WorkflowRun {
  readonly workflow: string;
  readonly event: string;
  /**
   * The number of the run, which increases with each new run of a workflow. A restarted run keeps its number.
   */
  readonly number: number;
  /** The id of the check suite in which GitHub shows the run. */
  readonly suite?: number | null | undefined;
}
export const runName = ({ workflow, event, number, suite }: WorkflowRun): string =>
  truncateName(`run:${number}/${suite ?? ''}:${event}:${workflow}`);

/** Returns the name of a pipeline. A pipeline with a higher id replaces earlier ones of the same `series`. */
export const pipelineName = (id: number, series: string): string => truncateName(`pipeline:${id}:${series}`);

/** Returns the name of a child pipeline, which a job of the pipeline `parent` started. */
export const childPipelineName = (parent: number | null, id: number): string => `child:${parent ?? ''}:${id}`;

interface NumberedCheck {
  readonly series: string;
  readonly number: number;
}

function parseNumberedName(name: string): NumberedCheck | undefined {
  const [, kind, number, series = ''] = /^(run|pipeline):(\d+)(?:\/\d*)?:(.*)$/s.exec(name) ?? [];
  return kind === undefined ? undefined : { series: `${kind}:${series}`, number: Number(number) };
}

type CheckReport = Pick<CommitCheck, 'name' | 'state' | 'at'>;

/**
 * Returns true if a check has a name without an id, as earlier versions wrote it, and a newer name replaces
 * it. A newer name has an id and the same app, workflow or forge.
 */
function isLegacyNameSuperseded(name: string, names: readonly string[]): boolean {
  const [, kind, group = ''] = /^(suite|workflow|pipeline):(.*)$/s.exec(name) ?? [];
  if (kind === 'suite') return /^\d+$/.test(group) && names.some((one) => one.startsWith(`${name}:`));
  if (kind === 'workflow') return names.some((one) => one.startsWith('run:') && one.endsWith(`:${group}`));
  return kind === 'pipeline' && parseNumberedName(name) === undefined && names.some(isNumberedPipeline);
}

const isNumberedPipeline = (name: string): boolean =>
  name.startsWith('pipeline:') && parseNumberedName(name) !== undefined;

/**
 * Returns true if a child pipeline was repeated with success. If its trigger job is retried, GitLab creates
 * another child without naming the one that it replaces. So a newer child and the parent must both have
 * passed later.
 */
function isRetriedChildPipeline({ name, at }: CheckReport, reports: readonly CheckReport[]): boolean {
  const [kind, parent, id] = name.split(':');
  const hasPassedLater = (word: CheckReport): boolean => word.state === 'passed' && word.at > at;
  const isNewer = (word: CheckReport): boolean => {
    const [otherKind, otherParent, otherId] = word.name.split(':');
    return otherKind === kind && otherParent === parent && Number(otherId) > Number(id);
  };
  return (
    kind === 'child' &&
    reports.some((word) => word.name.startsWith(`pipeline:${parent}:`) && hasPassedLater(word)) &&
    reports.some((word) => isNewer(word) && hasPassedLater(word))
  );
}

/** Filters the newest check reports by name. It leaves out replaced runs, and suites whose run is known. */
export function filterEffectiveReports(reports: readonly CheckReport[]): readonly CheckReport[] {
  const names = reports.map(({ name }) => name);
  const newest = new Map<string, number>();
  for (const { series, number } of names.flatMap((name) => parseNumberedName(name) ?? []))
    newest.set(series, Math.max(number, newest.get(series) ?? 0));
  const isReplaced = (name: string): boolean => {
    const numbered = parseNumberedName(name);
    return numbered !== undefined && numbered.number < (newest.get(numbered.series) ?? 0);
  };
  const suites = new Set(names.flatMap((name) => /^run:\d+\/(\d+):/.exec(name)?.[1] ?? []));
  const replacedPipelines = new Set(
    names
      .filter((name) => name.startsWith('pipeline:') && isReplaced(name))
      .map((name) => name.split(':')[1]),
  );
  return reports.filter((word) => {
    const [kind, first, second] = word.name.split(':');
    if (isLegacyNameSuperseded(word.name, names)) return false;
    if (kind === 'suite' && second !== undefined) return !suites.has(second);
    if (kind === 'child') return !replacedPipelines.has(first) && !isRetriedChildPipeline(word, reports);
    return !isReplaced(word.name);
  });
}

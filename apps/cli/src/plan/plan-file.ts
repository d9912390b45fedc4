/** Reads a plan from a file: YAML or JSON with the parameters of plans.apply, or a task list in Markdown. */
import path from 'node:path';
import { type InputOf, registry } from '@muster/registry';
import { UsageError } from '@muster/terminal';
import { parse, YAMLParseError } from 'yaml';
import { readTaskList } from './task-list.ts';

type PlanParams = InputOf<typeof registry.plans.apply>;

/** The values that the command line gives; they take precedence over the file. */
export interface PlanFileFlags {
  readonly project?: string | undefined;
  readonly ref?: string | undefined;
}

const taskLinePattern = /^\s*(?:[-*+]|\d+[.)])\s+\[[ xX]\]/m;

const isMarkdown = (file: string, text: string): boolean =>
  /\.(?:md|markdown)$/i.test(file) || (!/\.(?:ya?ml|json)$/i.test(file) && taskLinePattern.test(text));

/**
 * Returns the name of the plan in a file: the name of the file, or of its folder for tasks.md, as spec-kit and
 * Kiro have it.
 */
function planRefOf(file: string): string | undefined {
  if (file === '-') return undefined;
  const { name, dir } = path.parse(path.resolve(file));
  const folder = path.basename(dir);
  return /^(?:tasks|plan)$/i.test(name) && folder !== '' ? folder : name;
}

/** Parses the text of a plan. Throws UsageError with all problems that the contract finds in it. */
export function parsePlanFile(file: string, text: string, flags: PlanFileFlags): PlanParams {
  const stated = isMarkdown(file, text) ? { items: readTaskList(text) } : parseDocument(file, text);
  if (Array.isArray(stated['items']) && stated['items'].length === 0)
    throw new UsageError(`${file} has no tasks`);
  const params = {
    ...stated,
    projectId: flags.project ?? stated['projectId'],
    planRef: flags.ref ?? stated['planRef'] ?? planRefOf(file),
  };
  if (params.projectId === undefined) throw new UsageError(`${file} names no project: use --project`);
  if (params.planRef === undefined) throw new UsageError(`${file} has no name for the plan: use --ref`);
  const parsed = registry.plans.apply.params.safeParse(params);
  if (parsed.success) return params as PlanParams;
  const issues = parsed.error.issues.map(
    ({ path: at, message }) => `  ${describePath(params, at)}: ${message}`,
  );
  throw new UsageError(`${file} is no valid plan:\n${issues.join('\n')}`);
}

function parseDocument(file: string, text: string): Record<string, unknown> {
  const document = parseYaml(file, text);
  if (Array.isArray(document)) return { items: document };
  if (typeof document !== 'object' || document === null)
    throw new UsageError(`${file} is no valid plan: it must be an object with items`);
  const { project, plan, ...rest } = document as Record<string, unknown>;
  return {
    ...(project !== undefined && { projectId: project }),
    ...(plan !== undefined && { planRef: plan }),
    ...rest,
  };
}

/** JSON is read as YAML, of which it is a part. */
function parseYaml(file: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw error instanceof YAMLParseError ? new UsageError(`${file}: ${error.message}`) : error;
  }
}

/** Names the item by its ref, because the position alone is hard to find in a long file. */
function describePath(params: Readonly<Record<string, unknown>>, at: readonly PropertyKey[]): string {
  const [list, place] = at;
  const items = params['items'];
  const item: unknown = list === 'items' && Array.isArray(items) ? items[Number(place)] : undefined;
  const ref = typeof item === 'object' && item !== null && 'ref' in item ? ` (${String(item.ref)})` : '';
  return `${at.join('.')}${ref}`;
}

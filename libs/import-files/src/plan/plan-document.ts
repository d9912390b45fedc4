/** Reads plans as people and agents write them: YAML or JSON with the parameters of plans.apply, or a task list. */
import { type InputOf, type ResultOf } from '@muster/contract';
import { type boardRegistry } from '@muster/board-registry';
import { parse, YAMLParseError } from 'yaml';
import { UnreadableFileError } from '../source.ts';
import { readTaskList } from './task-list.ts';

export { UnreadableFileError } from '../source.ts';

export type PlanParams = InputOf<typeof boardRegistry.plans.apply>;
type ApplyResult = ResultOf<typeof boardRegistry.plans.apply>;

/** The content of a plan. Only its outer form is checked; the API checks the rest. */
export interface PlanDocument extends Partial<Omit<PlanParams, 'items'>> {
  readonly items: PlanParams['items'];
}

/** The names in a document, which can be numbers. */
interface PlanNames {
  readonly project?: string | number;
  readonly plan?: string | number;
}

const taskLinePattern = /^\s*(?:[-*+]|\d+[.)])\s+\[[ xX]\]/m;

/** Texts of items in YAML may contain task lists, too. */
const isYaml = (text: string): boolean => /^\s*[[{]/.test(text) || /^items:/m.test(text);

const isMarkdown = (fileName: string, text: string): boolean =>
  /\.(?:md|markdown)$/i.test(fileName) ||
  (!/\.(?:ya?ml|json)$/i.test(fileName) && taskLinePattern.test(text) && !isYaml(text));

/** Reads a plan. The name of its file, if it has one, decides the format. Throws UnreadableFileError. */
export function readPlanDocument(text: string, fileName = ''): PlanDocument {
  const document = isMarkdown(fileName, text) ? { items: readTaskList(text) } : parseDocument(text);
  if (document.items.length === 0) throw new UnreadableFileError('there are no tasks');
  return document;
}

function parseDocument(text: string): PlanDocument {
  const document = parseYaml(text);
  if (Array.isArray(document)) return { items: document as PlanDocument['items'] };
  if (
    typeof document !== 'object' ||
    document === null ||
    !('items' in document) ||
    !Array.isArray(document.items)
  )
    throw new UnreadableFileError('it must be an object with items');
  const { project, plan, ...rest } = document as unknown as PlanDocument & PlanNames;
  return {
    ...(project !== undefined && { projectId: `${project}` }),
    ...(plan !== undefined && { planRef: `${plan}` }),
    ...rest,
  };
}

/** JSON is read as YAML, of which it is a part. */
function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw error instanceof YAMLParseError ? new UnreadableFileError(error.message) : error;
  }
}

/** Returns the name of the plan in a file: the name of the file, or of its folder for tasks.md, as spec-kit and Kiro have it. */
export function planNameOf(filePath: string): string | undefined {
  const [file = '', folder] = filePath
    .split(/[\\/]/)
    .filter((part) => part !== '')
    .reverse();
  const name = file.replace(/(?<=.)\.[^.]*$/, '');
  return /^(?:tasks|plan)?$/i.test(name) ? folder : name;
}

/**
 * Applies a plan. New stories start in backlog or ready, so a plan with tasks that are started or done already is
 * applied a second time. The result has what the first call did, and the state after both.
 */
export async function applyPlan(
  apply: (params: PlanParams) => Promise<ApplyResult>,
  params: PlanParams,
): Promise<ApplyResult> {
  const first = await apply({ ...params, mode: 'apply' });
  if (!first.changes.some(({ kept }) => kept.some(({ reason }) => reason === 'new_story'))) return first;
  const later = await apply({ ...params, mode: 'apply' });
  return {
    ...later,
    epics: first.epics,
    changes: first.changes.map((change) => ({
      ...change,
      kept: later.changes.find(({ ref }) => ref === change.ref)?.kept ?? change.kept,
    })),
  };
}

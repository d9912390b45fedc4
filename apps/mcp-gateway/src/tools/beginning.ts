/** Adds a story's context and decisions to the result of a tool that starts work. */
import { contextSections, maxPageSize } from '@muster/contract';
import { registry } from '@muster/registry';
import { type z } from 'zod';
import { type AnswerBody, jsonBytesOf, type ShortenedParts, type CutPart } from '../answers/answers.ts';
import { describeContextCuts } from '../answers/cut-context.ts';
import { type MacroSteps } from './macro.ts';
import { defaultAnswerBytes, toolNameOf } from './tools.ts';

const { context: contextOperation } = registry.storyCollaboration;
const { list: listCommentsOperation } = registry.comments;

/**
 * Sections of the context that are left out. The result already contains the execution. A client reads the
 * other sections with storyCollaboration_context.
 */
const omittedSections: ReadonlySet<string> = new Set(['execution', 'policy', 'recentActivity']);
const includedSections = contextSections.filter((section) => !omittedSections.has(section));

const minContextBytes = 4_096;
/** Bytes reserved for the description of the cut parts. */
const bytesReservedForCutParts = 600;
const maxDecisions = 10;
const maxDecisionChars = 500;

type Thread = z.output<typeof listCommentsOperation.result>['items'][number];

/**
 * Returns a thread's decision, or its question with the answer. Without it, the next worker would ask the
 * question again.
 */
function extractDecisions({ kind, body, resolvedAt, replies, author }: Thread): AnswerBody[] {
  if (kind === 'decision') return [{ decision: body ?? '', by: author.name }];
  if (kind !== 'question' || resolvedAt === null) return [];
  const answer = replies.findLast((reply) => reply.body !== null);
  return [
    {
      question: body ?? '',
      ...(answer !== undefined && { answer: answer.body ?? '', by: answer.author.name }),
    },
  ];
}

const toContextPart = (part: CutPart): CutPart => ({ ...part, path: `context.${part.path}` });

/** Shortens long texts of the last decisions, and lists the parts that were cut. */
function shortenDecisions(decisions: readonly AnswerBody[]): { shown: AnswerBody[]; parts: CutPart[] } {
  const last = decisions.slice(-maxDecisions);
  const parts: CutPart[] =
    last.length < decisions.length
      ? [{ path: 'decisions', length: decisions.length, shown: last.length }]
      : [];
  const shownOf = (path: string, text: unknown): unknown => {
    if (typeof text !== 'string' || text.length <= maxDecisionChars) return text;
    parts.push({ path, length: text.length, shown: maxDecisionChars });
    return `${text.slice(0, maxDecisionChars)}…`;
  };
  const shown = last.map((decision, index) =>
    Object.fromEntries(
      Object.entries(decision).map(([name, text]) => [name, shownOf(`decisions[${index}].${name}`, text)]),
    ),
  );
  return { shown, parts };
}

/**
 * The call that reads all decisions. With the core tools, the operation is called through
 * `call_read_operation`.
 */
const decisionsReadCall = `${toolNameOf(listCommentsOperation.name)} (or call_read_operation ${listCommentsOperation.name})`;

/**
 * Combines the cut parts of decisions and context with the calls that read the rest; undefined if nothing was
 * cut.
 */
function joinCuts(
  decisions: readonly CutPart[],
  context: ShortenedParts | undefined,
  storyId: string,
): ShortenedParts | undefined {
  if (decisions.length === 0 && context === undefined) return undefined;
  const how =
    decisions.length === 0
      ? []
      : [
          `Decisions are requirements: call ${decisionsReadCall} with storyId ${storyId} to read all of them.`,
        ];
  return {
    parts: [...decisions, ...(context?.parts ?? []).map(toContextPart)],
    how: [...how, ...(context === undefined ? [] : [context.how])].join(' '),
  };
}

/** The operations that `addStoryContext` calls. */
export const storyContextOperations = [contextOperation, listCommentsOperation] as const;

/** Reads all threads; the last page has the latest decisions. */
async function readAllThreads({ callStepUncut }: MacroSteps, storyId: string): Promise<Thread[]> {
  const threads: Thread[] = [];
  for (let cursor: AnswerBody | null = {}; cursor !== null;) {
    const { items, nextCursor } = listCommentsOperation.result.parse(
      await callStepUncut(listCommentsOperation, { storyId, limit: maxPageSize, ...cursor }),
    );
    threads.push(...items);
    cursor = nextCursor === null ? null : { cursor: nextCursor };
  }
  return threads;
}

/** Returns the started work with its decisions, and as much of the story's context as fits. */
export async function addStoryContext(
  steps: MacroSteps,
  storyId: string,
  startedWork: AnswerBody,
): Promise<AnswerBody> {
  const threads = await readAllThreads(steps, storyId);
  const { shown: decisions, parts } = shortenDecisions(threads.flatMap(extractDecisions));
  const known = decisions.length === 0 ? startedWork : { ...startedWork, decisions };
  const maxBytes = Math.max(
    minContextBytes,
    defaultAnswerBytes - jsonBytesOf(known) - jsonBytesOf(parts) - bytesReservedForCutParts,
  );
  const all = await steps.callStep(contextOperation, { storyId, include: includedSections, maxBytes });
  // If changes were requested, the section `rework` already includes the open threads.
  const isTold = (section: string): boolean =>
    !omittedSections.has(section) && (section !== 'openThreads' || all['rework'] === null);
  const cut = joinCuts(parts, describeContextCuts(all, storyId), storyId);
  return {
    ...known,
    // `cut` precedes the context, because it explains how to read the rest of the context.
    ...(cut !== undefined && { cut }),
    context: Object.fromEntries(Object.entries(all).filter(([section]) => isTold(section))),
  };
}

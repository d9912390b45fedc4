/** Adds a story's context and decisions to the result of a tool that starts work. */
import { contextSections, maxLimit, registry } from '@muster/registry';
import { type z } from 'zod';
import { type AnswerBody, bytesOf, type ShortenedParts, type CutPart } from '../answers/answers.ts';
import { cutOfContext } from '../answers/cut-context.ts';
import { type Steps } from './macro.ts';
import { answerBytes, toolNameOf } from './tools.ts';

const { context } = registry.storyCollaboration;
const { list } = registry.comments;

/**
 * Sections of the context that are left out. The result already contains the execution. A client reads the
 * other sections with storyCollaboration_context.
 */
const untold: ReadonlySet<string> = new Set(['execution', 'policy', 'recentActivity']);
const told = contextSections.filter((section) => !untold.has(section));

const leastContext = 4_096;
/** Bytes reserved for the description of the cut parts. */
const roomForWords = 600;
const mostDecisions = 10;
const mostText = 500;

type Thread = z.output<typeof list.result>['items'][number];

/**
 * Returns a thread's decision, or its question with the answer. Without it, the next worker would ask the
 * question again.
 */
function decisionOf({ kind, body, resolvedAt, replies, author }: Thread): AnswerBody[] {
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

const inContext = (part: CutPart): CutPart => ({ ...part, path: `context.${part.path}` });

/** Shortens long texts of the last decisions, and lists the parts that were cut. */
function shorten(decisions: readonly AnswerBody[]): { shown: AnswerBody[]; parts: CutPart[] } {
  const last = decisions.slice(-mostDecisions);
  const parts: CutPart[] =
    last.length < decisions.length
      ? [{ path: 'decisions', length: decisions.length, shown: last.length }]
      : [];
  const shownOf = (path: string, text: unknown): unknown => {
    if (typeof text !== 'string' || text.length <= mostText) return text;
    parts.push({ path, length: text.length, shown: mostText });
    return `${text.slice(0, mostText)}…`;
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
const readDecisions = `${toolNameOf(list.name)} (or call_read_operation ${list.name})`;

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
      : [`Decisions are requirements: call ${readDecisions} with storyId ${storyId} to read all of them.`];
  return {
    parts: [...decisions, ...(context?.parts ?? []).map(inContext)],
    how: [...how, ...(context === undefined ? [] : [context.how])].join(' '),
  };
}

/** The operations that `withContext` calls. */
export const asksOnBeginning = [context, list] as const;

/** Reads all threads; the last page has the latest decisions. */
async function threadsOf({ lookWhole }: Steps, storyId: string): Promise<Thread[]> {
  const threads: Thread[] = [];
  for (let cursor: AnswerBody | null = {}; cursor !== null;) {
    const { items, nextCursor } = list.result.parse(
      await lookWhole(list, { storyId, limit: maxLimit, ...cursor }),
    );
    threads.push(...items);
    cursor = nextCursor === null ? null : { cursor: nextCursor };
  }
  return threads;
}

/** Returns the started work with its decisions, and as much of the story's context as fits. */
export async function withContext(steps: Steps, storyId: string, begun: AnswerBody): Promise<AnswerBody> {
  const threads = await threadsOf(steps, storyId);
  const { shown: decisions, parts } = shorten(threads.flatMap(decisionOf));
  const known = decisions.length === 0 ? begun : { ...begun, decisions };
  const maxBytes = Math.max(leastContext, answerBytes - bytesOf(known) - bytesOf(parts) - roomForWords);
  const all = await steps.look(context, { storyId, include: told, maxBytes });
  // If changes were requested, the section `rework` already includes the open threads.
  const isTold = (section: string): boolean =>
    !untold.has(section) && (section !== 'openThreads' || all['rework'] === null);
  const cut = joinCuts(parts, cutOfContext(all, storyId), storyId);
  return {
    ...known,
    // `cut` precedes the context, because it explains how to read the rest of the context.
    ...(cut !== undefined && { cut }),
    context: Object.fromEntries(Object.entries(all).filter(([section]) => isTold(section))),
  };
}

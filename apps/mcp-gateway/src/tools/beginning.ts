/** What a caller that begins work is told of its story. */
import { contextSections, maxLimit, registry } from '@muster/registry';
import { type z } from 'zod';
import { type Answer, bytesOf, type Cut, type CutPart } from '../answers/answers.ts';
import { cutOfContext } from '../answers/cut-context.ts';
import { type Steps } from './macro.ts';
import { answerBytes, toolNameOf } from './tools.ts';

const { context } = registry.storyCollaboration;
const { list } = registry.comments;

/** The execution stands beside it; storyCollaboration_context has the others for who wants them. */
const untold: ReadonlySet<string> = new Set(['execution', 'policy', 'recentActivity']);
const told = contextSections.filter((section) => !untold.has(section));

const leastContext = 4_096;
/** Room for saying what was cut. */
const roomForWords = 600;
const mostDecisions = 10;
const mostText = 500;

type Thread = z.output<typeof list.result>['items'][number];

/** What was decided, and questions that were answered: who goes on would ask them again. */
function decisionOf({ kind, body, resolvedAt, replies, author }: Thread): Answer[] {
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

/** The last decisions, with long texts shortened, and the parts of them that are not shown. */
function shorten(decisions: readonly Answer[]): { shown: Answer[]; parts: CutPart[] } {
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

/** In the short list the operation is called by another tool. */
const readDecisions = `${toolNameOf(list.name)} (or call_read_operation ${list.name})`;

/** The cut parts of the decisions and the context, with the calls that read the rest; undefined if nothing was cut. */
function joinCuts(decisions: readonly CutPart[], context: Cut | undefined, storyId: string): Cut | undefined {
  if (decisions.length === 0 && context === undefined) return undefined;
  const how =
    decisions.length === 0
      ? []
      : [`Decisions are requirements: call ${readDecisions} with storyId ${storyId} for all of them.`];
  return {
    parts: [...decisions, ...(context?.parts ?? []).map(inContext)],
    how: [...how, ...(context === undefined ? [] : [context.how])].join(' '),
  };
}

/** The operations that it asks. */
export const asksOnBeginning = [context, list] as const;

/** All of them: what was decided last stands in the last. */
async function threadsOf({ lookWhole }: Steps, storyId: string): Promise<Thread[]> {
  const threads: Thread[] = [];
  for (let cursor: Answer | null = {}; cursor !== null;) {
    const { items, nextCursor } = list.result.parse(
      await lookWhole(list, { storyId, limit: maxLimit, ...cursor }),
    );
    threads.push(...items);
    cursor = nextCursor === null ? null : { cursor: nextCursor };
  }
  return threads;
}

/** What was begun, with what was decided, and as much of what is to be known of the story as has room beside it. */
export async function withContext(steps: Steps, storyId: string, begun: Answer): Promise<Answer> {
  const threads = await threadsOf(steps, storyId);
  const { shown: decisions, parts } = shorten(threads.flatMap(decisionOf));
  const known = decisions.length === 0 ? begun : { ...begun, decisions };
  const maxBytes = Math.max(leastContext, answerBytes - bytesOf(known) - bytesOf(parts) - roomForWords);
  const all = await steps.look(context, { storyId, include: told, maxBytes });
  // Requested changes carry the open threads themselves.
  const isTold = (section: string): boolean =>
    !untold.has(section) && (section !== 'openThreads' || all['rework'] === null);
  const cut = joinCuts(parts, cutOfContext(all, storyId), storyId);
  return {
    ...known,
    // Before the context, since it says how to read it.
    ...(cut !== undefined && { cut }),
    context: Object.fromEntries(Object.entries(all).filter(([section]) => isTold(section))),
  };
}

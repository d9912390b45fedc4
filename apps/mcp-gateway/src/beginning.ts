/** What a caller that begins work is told of its story. */
import { contextSections, maxLimit, registry } from '@muster/registry';
import { type z } from 'zod';
import { type Answer, bytesOf, type CutPart } from './answers.ts';
import { cutOfContext } from './cut-context.ts';
import { type Steps } from './macro.ts';
import { answerBytes } from './tools.ts';

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

const short = (text: string | null): string =>
  text === null || text.length <= mostText ? (text ?? '') : `${text.slice(0, mostText)}…`;

/** What was decided, and questions that were answered: who goes on would ask them again. */
function decisionOf({ kind, body, resolvedAt, replies, author }: Thread): Answer[] {
  if (kind === 'decision') return [{ decision: short(body), by: author.name }];
  if (kind !== 'question' || resolvedAt === null) return [];
  const answer = replies.findLast((reply) => reply.body !== null);
  return [
    {
      question: short(body),
      ...(answer !== undefined && { answer: short(answer.body), by: answer.author.name }),
    },
  ];
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

const inContext = (part: CutPart): CutPart => ({ ...part, path: `context.${part.path}` });

/** What was begun, with what was decided, and as much of what is to be known of the story as has room beside it. */
export async function withContext(steps: Steps, storyId: string, begun: Answer): Promise<Answer> {
  const threads = await threadsOf(steps, storyId);
  const decisions = threads.flatMap(decisionOf).slice(-mostDecisions);
  const known = decisions.length === 0 ? begun : { ...begun, decisions };
  const maxBytes = Math.max(leastContext, answerBytes - bytesOf(known) - roomForWords);
  const all = await steps.look(context, { storyId, include: told, maxBytes });
  // Requested changes carry the open threads themselves.
  const isTold = (section: string): boolean =>
    !untold.has(section) && (section !== 'openThreads' || all['rework'] === null);
  const cut = cutOfContext(all, storyId);
  return {
    ...known,
    // Before the context, since it says how to read it.
    ...(cut !== undefined && { cut: { ...cut, parts: cut.parts.map(inContext) } }),
    context: Object.fromEntries(Object.entries(all).filter(([section]) => isTold(section))),
  };
}

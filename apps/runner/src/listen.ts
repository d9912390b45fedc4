/**
 * Passes on what others do to the work of a run as it happens, to a file for the agent and to the runner
 * itself.
 */
import { appendFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, followEvents, type HeldLease, MusterError } from '@muster/client';
import { type Signal } from '@muster/registry';
import { z } from 'zod';
import { type StoryNews, type Signals } from './session.ts';

const says: Readonly<Record<Signal['kind'], string>> = {
  stop_requested: 'Someone asked you to stop.',
  spec_changed: 'The spec has changed: read it again.',
  story_changed: 'The story has changed: read it again.',
  new_comments: 'There is a new comment.',
  question_answered: 'Your question was answered.',
  review_verdict: 'A reviewer gave a verdict.',
  lock_conflict: 'Someone else is working on files that you changed.',
  forge: 'The forge reported news about the branch or pull request.',
};

/** Signals after which the agent's first prompt is outdated. */
const changing = new Set<Signal['kind']>(['spec_changed', 'story_changed', 'review_verdict']);

const Words = z.object({ body: z.string(), author: z.object({ name: z.string() }) });
/** The data of a signal that a question was answered. */
const Answered = z.object({ commentId: z.string(), answer: Words.nullish() });

/** Describes a signal in one line. If the signal has a person's message, the line includes it. */
function lineOf({ kind, data }: Signal): string {
  const said = Words.safeParse(kind === 'question_answered' ? data['answer'] : data).data;
  return said === undefined ? says[kind] : `${says[kind]} ${said.author.name}: ${said.body}`;
}

export interface HeardSignals extends Signals {
  readonly hear: (signal: Signal) => void;
}

/** Opens the list of signals of a run. Each signal is also appended to the file as one line of JSON. */
export function openSignals(file: string): HeardSignals {
  const stop = new AbortController();
  let news: StoryNews[] = [];
  const asked = new Map<string, (answer: string) => void>();
  let writing: Promise<void> = Promise.resolve();
  return {
    stopRequested: stop.signal,
    take: () => {
      const told = new Map(news.map((one) => [one.line, one]));
      news = [];
      return [...told.values()];
    },
    answerTo: (questionId) =>
      new Promise((resolve) => {
        asked.set(questionId, resolve);
      }),
    hear: (signal) => {
      const { kind, seq, at, data } = signal;
      const answered = kind === 'question_answered' ? Answered.safeParse(data).data : undefined;
      const waiting = asked.get(answered?.commentId ?? '');
      if (waiting !== undefined) waiting(answered?.answer?.body ?? '');
      else if (!asked.has(String(data['parentId'])))
        news.push({ line: lineOf(signal), changesContext: changing.has(kind) });
      writing = writing
        .then(() => appendFile(file, `${JSON.stringify({ kind, seq, at, data, message: says[kind] })}\n`))
        .catch(() => undefined);
      if (kind === 'stop_requested') stop.abort(signal);
    },
  };
}

const pauseMillis = 1_000;

/**
 * Renews the lease after each event of the execution, because the response contains the new signals. Ends
 * when the run ends.
 */
export async function listen(client: Client, lease: HeldLease, over: AbortSignal): Promise<void> {
  let afterSeq = lease.execution().lastEventSeq;
  while (!over.aborted && !lease.isOver()) {
    try {
      for await (const event of followEvents(client, lease.executionId, { afterSeq, signal: over })) {
        afterSeq = event.seq;
        if (lease.isOver()) return;
        await lease.renew();
      }
    } catch (error) {
      // The API did not answer, the token expired, or the lease is lost. A renewal finds out whether the
      // lease is lost.
      if (error instanceof MusterError) await lease.renew().catch(() => undefined);
      await pause(pauseMillis, undefined, { signal: over }).catch(() => undefined);
    }
  }
}
